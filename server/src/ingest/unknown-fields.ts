import { coordinates } from '@gantry/contract/coordinates';
import { type InputIssue, MAX_ISSUES } from '@gantry/contract/errors';
import { event, reportedEvent } from '@gantry/contract/events';
import { AppError } from '../platform/error.ts';

/**
 * The fields that an event may have. They include the fields of stored events, which are ignored: a device that sends
 * back an event as it has read it makes no mistake.
 */
const KNOWN = new Set([...Object.keys(reportedEvent.shape), ...Object.keys(event.shape), 'apiKey', 'strict']);
const KNOWN_IN_LOCATION = new Set(Object.keys(coordinates.shape));

/** The part of an unknown name that is repeated, in characters. */
const NAME_MAX = 100;
const MESSAGE = 'This field is not known and was ignored';

const NONE: readonly InputIssue[] = [];

/** The fields of an event as it was sent that are not known and therefore not stored, at most `MAX_ISSUES`. */
export function unknownFields(given: unknown): readonly InputIssue[] {
  if (typeof given !== 'object' || given === null) return NONE;
  const { location } = given as { location?: unknown };
  const found = unknownIn(given, KNOWN, '', NONE);
  return typeof location === 'object' && location !== null
    ? unknownIn(location, KNOWN_IN_LOCATION, 'location.', found)
    : found;
}

const LOST_DIGITS =
  'This integer has more digits than a number holds, so that the last ones changed: send it as a text';
const NULL_TIME = 'null was taken for no timestamp, so that the event has the time of receipt';

/** The values of an event as it was sent that are not stored as they were meant, at most `MAX_ISSUES`. */
export function changedValues(given: unknown): readonly InputIssue[] {
  if (typeof given !== 'object' || given === null) return NONE;
  const { timestamp, metadata } = given as { timestamp?: unknown; metadata?: unknown };
  const issues: InputIssue[] = timestamp === null ? [{ path: 'timestamp', message: NULL_TIME }] : [];
  const visit = (value: unknown, path: string): void => {
    if (issues.length >= MAX_ISSUES) return;
    if (typeof value === 'number') {
      // Larger numbers are written with an exponent, and are not meant to be exact.
      const isLong = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
      if (isLong) issues.push({ path: path.slice(0, NAME_MAX).toWellFormed(), message: LOST_DIGITS });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) visit(each, `${path}.${name}`);
    }
  };
  visit(metadata, 'metadata');
  return issues.length > 0 ? issues : NONE;
}

// A loop over the names allocates nothing for an event without unknown fields.
function unknownIn(
  value: object,
  known: ReadonlySet<string>,
  prefix: string,
  found: readonly InputIssue[],
): readonly InputIssue[] {
  let issues: InputIssue[] | null = null;
  for (const name in value) {
    if (known.has(name)) continue;
    issues ??= [...found];
    if (issues.length >= MAX_ISSUES) break;
    issues.push({ path: prefix + name.slice(0, NAME_MAX).toWellFormed(), message: MESSAGE });
  }
  return issues ?? found;
}

/** The refusal of an event with unknown fields, for senders that request it with `strict`. */
export function refuseUnknown(fields: readonly InputIssue[]): AppError {
  const names = fields.map(({ path }) => path).join(', ');
  return new AppError(
    'badRequest',
    `Invalid input: these fields are not known: ${names}. Correct their names, or send the event without strict`,
    { issues: fields.map(({ path }) => ({ path, message: 'This field is not known' })) },
  );
}
