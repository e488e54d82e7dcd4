import { HIDDEN_PLATE } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import type { PlateRule } from '@gantry/contract/plate-fields';
import { CRITICAL_ISSUE } from '@gantry/contract/values';

/** An object of an answer. */
export type Members = Readonly<Record<string, unknown>>;

/** A field of an answer that is marked in the contract. */
export interface MarkedField {
  readonly value: unknown;
  /** The object that contains it. */
  readonly of: Members;
  /** Removes known plates from a string. */
  readonly clean: (text: string) => string;
  /** The value as it is shown without the mark. */
  readonly unmarked: (value: unknown) => unknown;
}

/** A marked field as users see it from whom plates are hidden. */
export function concealField(rule: PlateRule, { value, of, clean, unmarked }: MarkedField): unknown {
  switch (rule) {
    case 'plate':
      return typeof value === 'string' ? HIDDEN_PLATE : value;
    case 'empty':
      return Array.isArray(value) ? [] : null;
    case 'deviceText':
      if (typeof value === 'string') return deviceTextIn(of, clean(value));
      return Array.isArray(value)
        ? value.flatMap((tag) => deviceTextIn(of, clean(String(tag))) ?? [])
        : value;
    case 'incidentText':
      return isOpenedByEvent(of) ? null : unmarked(value);
    case 'incidentTimeline':
      return unmarked(isOpenedByEvent(of) ? withoutDescriptions(value) : value);
    case 'issues':
      return typeof value === 'string' ? withoutIssues(clean(value)) : value;
    case 'mappedValues':
      return typeof value === 'string' ? withoutMappedValues(clean(value)) : value;
    case 'delivery':
      return typeof value === 'string' ? HIDDEN_PLATE : value;
    case 'digits':
      return hasDigit(value) ? HIDDEN_PLATE : unmarked(value);
    case 'pageFilters':
      return typeof value === 'string' ? withoutPlateFilter(value, of.page) : value;
  }
}

/**
 * Whether a marked field may show a plate to users who see plates. A text does if it has a digit, as nearly every plate
 * does.
 * @param of the object that contains it
 */
export function mayShowPlate(rule: PlateRule, value: unknown, of: Members): boolean {
  switch (rule) {
    case 'plate':
      return typeof value === 'string' && value !== '';
    case 'empty':
      return Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined;
    case 'deviceText':
      return [value].flat().some(hasDigit);
    case 'incidentText':
      return isOpenedByEvent(of) && hasDigit(value);
    case 'incidentTimeline':
      return isOpenedByEvent(of) && Array.isArray(value) && value.some(tellsDescription);
    case 'issues':
      return typeof value === 'string' && withoutIssues(value) !== value;
    case 'mappedValues':
      return typeof value === 'string' && withoutMappedValues(value) !== value;
    case 'delivery':
      return typeof value === 'string' && PLATE_IN_JSON.test(value);
    case 'digits':
      return hasDigit(value);
    case 'pageFilters':
      return typeof value === 'string' && withoutPlateFilter(value, of.page) !== value;
  }
}

function hasDigit(value: unknown): boolean {
  return typeof value === 'string' && /\p{N}/u.test(value);
}

function tellsDescription(entry: { readonly details: Members | null }): boolean {
  return Object.values((entry.details?.description ?? {}) as Members).some(hasDigit);
}

/** A plate, or a pattern of plates, in the body of a delivery. */
const PLATE_IN_JSON = /"(?:licensePlateNumber|plate|pattern)":"/;

/**
 * Checks a text of the device in an event, after the known plates were removed from it. Null if it may still contain a
 * plate: because the event has no plate that could be removed, or because a digit is left, as in nearly every plate.
 */
function deviceTextIn({ licensePlateNumber }: Members, text: string): string | null {
  return licensePlateNumber === null || /\p{N}/u.test(text) ? null : text;
}

/** Whether it is an incident that an event opened. */
function isOpenedByEvent(incident: Members): boolean {
  return incident.reportedBy === null;
}

/** A timeline without the former and new descriptions in the details of its entries. */
function withoutDescriptions(timeline: unknown): unknown {
  if (!Array.isArray(timeline)) return timeline;
  return timeline.map((entry: { readonly details: Members | null }) =>
    entry.details && 'description' in entry.details
      ? { ...entry, details: { ...entry.details, description: { from: null, to: null } } }
      : entry,
  );
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

/** A prefix of one or several plates: a node of the Aho-Corasick automaton, which searches for all plates at once. */
interface Beginning {
  readonly next: Map<string, Beginning>;
  /** The longest other prefix that is a suffix of this one (the failure link); null for the empty prefix. */
  shorter: Beginning | null;
  /** Number of characters of the longest plate that is a suffix of this prefix; 0 if there is none. */
  plateLength: number;
}

/** A part of a text, by offsets in it. */
interface Part {
  readonly from: number;
  readonly until: number;
}

/**
 * A function that finds plates in texts, in any form that has the same key, the first ones first. Its time is proportional
 * to the length of the text, because devices send both the plates and the texts.
 */
export function plateFinder(plates: Iterable<string>): (text: string) => readonly Part[] {
  const empty = searchFor(plates);
  return (text) => (empty.next.size === 0 ? [] : found(text, empty));
}

/** A function that replaces plates in texts, like `plateFinder`. */
export function replacePlates(plates: Iterable<string>, replacement: string): (text: string) => string {
  const find = plateFinder(plates);
  return (text) => {
    let shown = '';
    let shownUntil = 0;
    for (const { from, until } of find(text)) {
      shown += text.slice(shownUntil, from) + replacement;
      shownUntil = until;
    }
    return shownUntil === 0 ? text : shown + text.slice(shownUntil);
  };
}

/** The parts of a text that are plates. Those that overlap are one. */
function found(text: string, empty: Beginning): Part[] {
  const parts: Part[] = [];
  const offsets: number[] = [];
  let at: Beginning = empty;
  let offset = 0;
  for (const character of text) {
    const start = offset;
    offset += character.length;
    for (const each of compared(character)) {
      offsets.push(start);
      at = following(at, each);
      if (at.plateLength === 0) continue;
      let from = offsets[offsets.length - at.plateLength] ?? start;
      for (let last = parts.at(-1); last && last.until > from; last = parts.at(-1)) {
        from = Math.min(from, last.from);
        parts.pop();
      }
      parts.push({ from, until: offset });
    }
  }
  return parts;
}

function searchFor(plates: Iterable<string>): Beginning {
  const empty: Beginning = { next: new Map(), shorter: null, plateLength: 0 };
  for (const plate of plates) {
    const characters = [...plateKey(plate)].flatMap(compared);
    let at = empty;
    for (const each of characters) {
      const next = at.next.get(each) ?? { next: new Map(), shorter: empty, plateLength: 0 };
      at.next.set(each, next);
      at = next;
    }
    if (at !== empty) at.plateLength = characters.length;
  }
  // Breadth first, so that shorter prefixes are complete before longer ones. The loop also visits the elements that it
  // adds.
  const beginnings = [empty];
  for (const at of beginnings) {
    for (const [each, next] of at.next) {
      if (at.shorter) next.shorter = following(at.shorter, each);
      next.plateLength ||= next.shorter?.plateLength ?? 0;
      beginnings.push(next);
    }
  }
  return empty;
}

/** The longest prefix that is a suffix of the text read so far and one more character. */
function following(before: Beginning, character: string): Beginning {
  let at = before;
  for (;;) {
    const next = at.next.get(character);
    if (next) return next;
    if (!at.shorter) return at;
    at = at.shorter;
  }
}

const ASCII_COMPARED = /[a-z0-9*?]/i;

/**
 * A character of a text as it is compared, with accents as separate characters; none for what the key of a plate leaves
 * out. The dot of a decomposed İ is left out of all letters.
 */
function compared(character: string): readonly string[] {
  if (character < '\x80') return ASCII_COMPARED.test(character) ? [character.toUpperCase()] : [];
  return [...plateKey(character).normalize('NFD').replaceAll('\u0307', '')];
}
