const MINUTE_MS = 60_000;

/** Says at most so many lines a minute; the next one after that tells how many were left out. */
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
