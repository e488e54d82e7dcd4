import { createFlag } from './flag.ts';

// Whether the service refuses everything until the user has set up a second factor.
const flag = createFlag();

/** Notes that a second factor has to be set up first. */
export const setFactorMissing = flag.set;

export const useFactorMissing = flag.use;
