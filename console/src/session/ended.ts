import { createFlag } from './flag.ts';

// Whether the service refused the token of this tab. What was typed stays: a dialog asks to sign in again over the page.
const flag = createFlag();

/** Notes that the session is over, or that a new one has begun. */
export const setSessionEnded = flag.set;

export const isSessionEnded = flag.get;

export const useSessionEnded = flag.use;
