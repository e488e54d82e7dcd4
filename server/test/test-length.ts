/** Whether this is `npm run test:long`. The only place where the tests read it. */
export const isLong = process.env.LONG_TESTS === 'true';

/**
 * How long a load lasts, or how much there is of something: `gate` in `npm test`, which everybody waits for, and `full` in
 * `npm run test:long`, where what shows rarely has more time to show.
 */
export const lengthOf = ({ gate, full }: { readonly gate: number; readonly full: number }): number =>
  isLong ? full : gate;
