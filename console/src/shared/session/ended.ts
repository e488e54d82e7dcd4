import { createFlag } from './flag.ts';

// Whether the service refused the token of this tab. The page stays mounted under a sign-in dialog and keeps its input.
const flag = createFlag();

/** Records that the session has ended (true), or that a new one has begun (false). */
export const setSessionEnded = flag.set;

export const isSessionEnded = flag.get;

export const useSessionEnded = flag.use;
