import { HIDDEN_PLATE } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { CRITICAL_ISSUE } from '@gantry/contract/values';
import { replacePlates } from './plates-in-texts.ts';

/** Shorter texts are no plates, and would be found inside other words. */
const LEAST_CHARACTERS = 3;

/**
 * The answers without plates, by the original answer. A message of a stream is sent to many users, but redacted once.
 */
const hidden = new WeakMap<object, object>();

/**
 * An answer without number plates, for users who may not see them. The keys remain. It finds objects by their keys, so
 * that an answer that gains an event needs no rule of its own:
 * - `licensePlateNumber` of anything, and the `pattern` of a plate on the watchlist, become `•••`;
 * - the `metadata` and `images` of an event become empty, because both may show the plate;
 * - the `description` and the `tags` of an event are left out where they may name another plate, or the plate in
 *   another form (`deviceTextIn`);
 * - the description of an incident that an event opened becomes null, also in its timeline, because it is a text of the
 *   device;
 * - the reason for the status ERROR of a sensor is shown without the issues that the sensor reported if they contain a
 *   digit;
 * - the reason for which a mapping refused a message of a device is shown without values of the message;
 * - the path to which a device sent a message becomes `•••` if it contains a digit, as nearly every plate does;
 * - pictures of messages of devices, repeated plates, and filters by plate of saved views are left out;
 * - other texts lose the plates that the answer contains elsewhere.
 */
export function hidePlates<Answer>(answer: Answer): Answer {
  if (typeof answer !== 'object' || answer === null) return answer;
  const known = hidden.get(answer);
  if (known) return known as Answer;
  const keys = new Set<string>();
  collectPlates(answer, keys);
  const shown = conceal(answer, replacePlates(keys, HIDDEN_PLATE)) as Answer & object;
  hidden.set(answer, shown);
  return shown;
}

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function collectPlates(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const each of value) collectPlates(each, found);
  if (!isMembers(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string') collectPlates(member, found);
    else if (name === 'licensePlateNumber' || (name === 'pattern' && isWatched(value))) {
      // A `*` stands for any characters in a pattern, and for one that a camera cannot read in a plate.
      for (const plate of [member, member.replaceAll('*', '')]) {
        const key = plateKey(plate);
        if ([...key].length >= LEAST_CHARACTERS) found.add(key);
      }
    }
  }
}

function conceal(value: unknown, text: (text: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((each) => conceal(each, text));
  if (!isMembers(value)) return value;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    members[name] = isIdentity(name) ? member : concealMember(value, name, member, text);
  }
  return members;
}

function concealMember(of: Members, name: string, member: unknown, text: (text: string) => string): unknown {
  const isText = typeof member === 'string';
  switch (name) {
    case 'licensePlateNumber':
      return isText ? HIDDEN_PLATE : member;
    case 'pattern':
      return isText && isWatched(of) ? HIDDEN_PLATE : conceal(member, text);
    case 'metadata':
      return isEvent(of) ? null : conceal(member, text);
    case 'images':
      return isEvent(of) ? [] : conceal(member, text);
    case 'tags':
      return Array.isArray(member) && isEvent(of)
        ? member.flatMap((tag) => deviceTextIn(of, text(String(tag))) ?? [])
        : conceal(member, text);
    case 'pictures':
      return Array.isArray(member) && 'connectionId' in of ? [] : conceal(member, text);
    case 'path':
      return isText && 'connectionId' in of && /\p{N}/u.test(member) ? HIDDEN_PLATE : conceal(member, text);
    case 'reason':
      if (!isText) return conceal(member, text);
      if ('from' in of && 'to' in of) return withoutIssues(text(member));
      return 'connectionId' in of ? withoutMappedValues(text(member)) : text(member);
    case 'description':
      if (isOpenedByEvent(of)) return null;
      return isText && isEvent(of) ? deviceTextIn(of, text(member)) : conceal(member, text);
    case 'timeline':
      return conceal(isOpenedByEvent(of) ? withoutDescriptions(member) : member, text);
    case 'plates':
      return Array.isArray(member) && 'since' in of ? [] : conceal(member, text);
    case 'search':
      return isText && 'page' in of ? withoutPlateFilter(member, of.page) : conceal(member, text);
    default:
      return conceal(member, text);
  }
}

function isEvent(value: Members): boolean {
  return 'licensePlateNumber' in value;
}

/**
 * Checks a text of the device in an event, after the known plates were removed from it. Null if it may still contain a
 * plate: because the event has no plate that could be removed, or because a digit is left, as in nearly every plate.
 */
function deviceTextIn({ licensePlateNumber }: Members, text: string): string | null {
  return licensePlateNumber === null || /\p{N}/u.test(text) ? null : text;
}

/** Whether it is an incident that an event opened. */
function isOpenedByEvent(value: Members): boolean {
  return 'lanesBlocked' in value && value.reportedBy === null;
}

/** A timeline without the former and new descriptions in the details of its entries. */
function withoutDescriptions(timeline: unknown): unknown {
  if (Array.isArray(timeline)) return timeline.map(withoutDescriptions);
  if (!isMembers(timeline) || !isMembers(timeline.details) || !('description' in timeline.details))
    return timeline;
  return { ...timeline, details: { ...timeline.details, description: { from: null, to: null } } };
}

/** Ids contain no plates, and a plate of few digits must not be found in one by chance. */
function isIdentity(name: string): boolean {
  return name === 'id' || name.endsWith('Id');
}

/** Whether it is an entry or an alert of the watchlist. */
function isWatched(value: Members): boolean {
  return 'priority' in value && 'reason' in value;
}

/** The reason why a message of a device was refused, without the values that a mapping read in the message. */
function withoutMappedValues(reason: string): string {
  return reason.replace(
    /(The mapping failed[^:]{0,200}|The result of the mapping is invalid): .*/s,
    `$1: ${HIDDEN_PLATE}`,
  );
}

/** The reason for a change of status, without issues of the device that may contain a plate. */
export function withoutIssues(reason: string): string {
  const mayHoldPlate = reason.startsWith(CRITICAL_ISSUE) && /\p{N}/u.test(reason);
  return mayHoldPlate ? `${CRITICAL_ISSUE}${HIDDEN_PLATE}` : reason;
}

/** For each page of the console, the filter that may contain a plate although its name does not say so. */
const PLATE_FILTERS: Readonly<Record<string, string>> = { plates: 'search', activity: 'about' };

/** The query string of a saved view without filters by plate. */
function withoutPlateFilter(search: string, page: unknown): string {
  const parameters = new URLSearchParams(search);
  const wanted = [...parameters].filter(
    ([name]) => !/plate/i.test(name) && name !== PLATE_FILTERS[String(page)],
  );
  if (wanted.length === parameters.size) return search;
  return `${search.startsWith('?') ? '?' : ''}${new URLSearchParams(wanted)}`;
}
