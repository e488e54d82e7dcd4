import type { HitKind } from '@gantry/contract/hits';
import type { HotlistTolerance, HotlistVerification } from '@gantry/contract/hotlists';
import { confusableKey } from '@gantry/contract/plate';
import { isOfRegion } from '@gantry/contract/plate-regions';
import { matchesPattern } from '../events/matches.ts';

/** What of a list decides whether a read is a hit, and who learns of it. */
export interface HotlistRules {
  readonly tolerance: HotlistTolerance;
  /** The number of characters that may look alike instead of being equal, with the tolerance CONFUSABLE. */
  readonly maxDifferences: number;
  readonly verification: HotlistVerification;
  /** In per cent. */
  readonly minConfidence: number | null;
}

/** What an entry lists. Times in Unix milliseconds, inclusive; null for no limit. */
export interface ListedPlate {
  readonly plateKey: string;
  readonly region: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/** A read of a plate. */
export interface PlateRead {
  readonly plateKey: string;
  /** null: the device did not say. */
  readonly region: string | null;
  /** Unix milliseconds. */
  readonly time: number;
}

/**
 * In how many characters a read differs from an entry that it hits; null if it hits none. Patterns have no differences.
 */
export function differencesOf(rules: HotlistRules, entry: ListedPlate, read: PlateRead): number | null {
  if (entry.validFrom !== null && read.time < entry.validFrom) return null;
  if (entry.validUntil !== null && read.time > entry.validUntil) return null;
  if (!mayBeSameRegion(entry.region, read.region)) return null;
  return differencesOfKeys(rules, entry.plateKey, read.plateKey);
}

/** Whether two regions may be of one plate: a country contains its subdivisions, and an unknown region may be any. */
export function mayBeSameRegion(one: string | null, other: string | null): boolean {
  return one === null || other === null || isOfRegion(one, other) || isOfRegion(other, one);
}

function differencesOfKeys(
  { tolerance, maxDifferences }: HotlistRules,
  listed: string,
  read: string,
): number | null {
  if (listed === read) return 0;
  if (listed.includes('*')) return matchesLikePattern(tolerance, listed, read) ? 0 : null;
  if (tolerance === 'EXACT') return null;
  if (tolerance === 'ONE_OFF') return isOneOff([...listed], [...read]) ? 1 : null;
  if (confusableKey(listed) !== confusableKey(read)) return null;
  const differences = countDifferences([...listed], [...read]);
  return differences <= maxDifferences ? differences : null;
}

function matchesLikePattern(tolerance: HotlistTolerance, pattern: string, read: string): boolean {
  return tolerance === 'EXACT'
    ? matchesPattern(pattern)(read)
    : matchesPattern(confusableKey(pattern))(confusableKey(read));
}

/**
 * The number of positions that differ. Keys that look alike may have different lengths, as Æ looks like AE: then what is
 * between their common beginning and end counts.
 */
function countDifferences(one: readonly string[], other: readonly string[]): number {
  if (one.length === other.length) return one.filter((character, at) => character !== other[at]).length;
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}

/** Whether one character that is wrong, missing or additional is the only difference. */
function isOneOff(one: readonly string[], other: readonly string[]): boolean {
  const longer = one.length >= other.length ? one : other;
  const shorter = longer === one ? other : one;
  if (longer.length - shorter.length > 1) return false;
  let same = 0;
  while (same < shorter.length && longer[same] === shorter[same]) same++;
  const skipped = longer.length === shorter.length ? same + 1 : same;
  const rest = longer.slice(same + 1);
  return (
    rest.length === Math.max(0, shorter.length - skipped) &&
    rest.every((each, at) => each === shorter[skipped + at])
  );
}

/** A plate without each of its characters in turn, and whole: two plates that differ in one character have one of these in common. */
export function nearKeys(key: string): string[] {
  const characters = [...key];
  return [...new Set([key, ...characters.map((_, at) => characters.toSpliced(at, 1).join(''))])];
}

/** What is known of a read that may be a hit. */
export interface ReadQuality {
  readonly differences: number;
  /** In per cent; null if the device did not say. */
  readonly confidence: number | null;
  readonly hasImage: boolean;
}

/** Whether others than verifiers learn of a hit before a person has confirmed it. */
export function isReleasedAtOnce(
  rules: HotlistRules,
  { differences, confidence, hasImage }: ReadQuality,
): boolean {
  if (rules.tolerance === 'ONE_OFF') return false;
  if (rules.verification !== 'WHEN_UNSURE') return rules.verification === 'NEVER';
  return differences === 0 && hasImage && confidence !== null && confidence >= (rules.minConfidence ?? 0);
}

/** A read is found live if it was stored after its entry came into force. Both in Unix milliseconds. */
export function kindOfHit(storedAt: number, listedAt: number): HitKind {
  return storedAt >= listedAt ? 'LIVE' : 'LOOK_BACK';
}
