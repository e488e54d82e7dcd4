import { closestMatch } from 'leven';

/** How many letters of a name may be wrong, missing or too many: in short names fewer, because they resemble others. */
function mostErrors({ length }: string): number {
  return length < 6 ? 0 : length < 8 ? 1 : 2;
}

function bare(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

function isSwapped(one: string, other: string): boolean {
  return one.length === other.length && [...one].sort().join('') === [...other].sort().join('');
}

/**
 * The name that was probably meant by one that is not known; null if it resembles none.
 * @param known the right names, in upper case
 * @param isOurs whether the name was certainly meant for us, so that short names and our prefix are considered too
 */
export function meantBy(name: string, known: readonly string[], isOurs: boolean): string | null {
  if (known.includes(name)) return null;
  const upper = name.toUpperCase();
  const same = known.find((right) => bare(right) === bare(name));
  if (same !== undefined && (isOurs || mostErrors(upper) > 0)) return same;
  const maxDistance = Math.max(mostErrors(upper), isOurs ? 1 : 0);
  if (maxDistance > 0) {
    const closest = closestMatch(upper, known, { maxDistance });
    if (closest !== undefined) return closest;
  }
  if (!isOurs) return null;
  const unprefixed = known.find((right) => upper === `GANTRY_${right}`);
  return unprefixed ?? known.find((right) => isSwapped(right, upper)) ?? null;
}
