import { MINUTE_MS } from '@gantry/contract/durations';

/** Prints at most the given number of lines a minute; the next line after that says how many were omitted. */
export function limitLines(
  perMinute: number,
  say: (line: string) => void,
  now: () => number = Date.now,
): (line: string) => void {
  let since = Number.NEGATIVE_INFINITY;
  let said = 0;
  let left = 0;
  return (line) => {
    if (now() - since >= MINUTE_MS) {
      if (left > 0) say(`… and ${left} more`);
      since = now();
      said = 0;
      left = 0;
    }
    if (said === perMinute) {
      left++;
      return;
    }
    said++;
    say(line);
  };
}
