/** Whether this is `npm run test:long`. This is the only place where the tests read it. */
export const isLong = process.env.LONG_TESTS === 'true';

/**
 * The duration of a load, or a number of objects: `gate` in `npm test` and `npm run test:processes`, which
 * everybody waits for, and `full` in `npm run test:long`, in which rare effects are more likely to show.
 */
export const lengthOf = ({ gate, full }: { readonly gate: number; readonly full: number }): number =>
  isLong ? full : gate;
