import { createFlag } from './flag.ts';

// Whether the service refuses requests until the user has set up a second factor.
const flag = createFlag();

/** Records whether a second factor must be set up first. */
export const setFactorMissing = flag.set;

export const useFactorMissing = flag.use;
