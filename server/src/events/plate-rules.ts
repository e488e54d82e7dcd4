import { HIDDEN_PLATE } from '@gantry/contract/events';
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
    case 'digits':
      return typeof value === 'string' && /\p{N}/u.test(value) ? HIDDEN_PLATE : unmarked(value);
    case 'pageFilters':
      return typeof value === 'string' ? withoutPlateFilter(value, of.page) : value;
  }
}

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
