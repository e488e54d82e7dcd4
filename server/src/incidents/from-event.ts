import { type IncidentType, incidentType } from '@gantry/contract/incidents';
import { plateKey } from '@gantry/contract/plate';
import { incidentTypeNames } from '@gantry/contract/values';

/** The fields of an event that determine the type of its incident. */
interface Report {
  readonly violationType: string | null;
  readonly metadataJson: string | null;
}

/** The fields of an event from which the title of its incident is made. */
interface Described extends Report {
  readonly description: string | null;
  readonly plateKey: string | null;
}

/** Names of types as devices report them, in capitals: those of the API and other common ones. */
const typesByName: ReadonlyMap<string, IncidentType> = new Map([
  ...incidentType.options.map((type) => [type, type] as const),
  ['WRONG_WAY', 'WRONG_WAY_DRIVER'],
]);

/** The type of incident for an event: by its violation type, otherwise by `metadata.incidentType`, otherwise OTHER. */
export function incidentTypeOf(report: Report): IncidentType {
  return typeNamed(report.violationType) ?? typeNamed(metadataOf(report).incidentType) ?? 'OTHER';
}

/** The longest key of a source, in characters. */
const SOURCE_KEY_MAX = 200;

/** What the source of an event says of the incident that it reports on. */
export interface Source {
  /**
   * The key under which the source reports on one incident, however often and long: `metadata.incidentKey`. Null if it
   * has none.
   */
  readonly sourceKey: string | null;
  /** Whether it is a version of the report with that key, and not another report, which names its own record. */
  readonly isVersion: boolean;
  /** Why what is reported with that key is over: `metadata.incidentEnd`. Null if it is not. */
  readonly ending: 'ended' | 'cancelled' | null;
}

export function sourceOf(report: Report): Source {
  const { incidentKey, incidentEnd, record } = metadataOf(report);
  if (typeof incidentKey !== 'string' || incidentKey === '')
    return { sourceKey: null, isVersion: false, ending: null };
  const sourceKey = incidentKey.slice(0, SOURCE_KEY_MAX);
  return {
    sourceKey,
    isVersion: typeof record !== 'string' || record === sourceKey,
    ending: incidentEnd === 'ended' || incidentEnd === 'cancelled' ? incidentEnd : null,
  };
}

/** The longest title that the contract allows, in characters. */
const TITLE_MAX = 200;

/** The title of an incident whose most severe event this is: "Collision at Main Street / 5th Avenue". */
export function titleOf(type: IncidentType, event: Described, place: string): string {
  return [...`${nameOf(type, event) ?? incidentTypeNames[type]} at ${place}`].slice(0, TITLE_MAX).join('');
}

/**
 * What an event reports: its type or, for OTHER, the beginning of its description, otherwise the name that the device
 * gave the type. Null if it says nothing of it.
 */
export function nameOf(type: IncidentType, event: Described): string | null {
  if (type !== 'OTHER') return incidentTypeNames[type];
  return beginningOf(event) ?? wordsOf(event.violationType) ?? wordsOf(metadataOf(event).incidentType);
}

/** Maximum length of what a title takes from a description, in UTF-16 units. */
const BEGINNING_MAX = 80;
const CLAUSE_ENDS = [...'.,;:!?()[]{}\n\r'];

/**
 * The first sentence of the description, as far as it is short and contains neither a digit nor the plate of the event:
 * titles are shown to users who may not see plates.
 */
function beginningOf({ description, plateKey: plate }: Described): string | null {
  const text = (description ?? '').trim().slice(0, BEGINNING_MAX + 1);
  const digit = text.search(/\p{N}/u);
  let end = digit === -1 ? text.length : lastClauseEnd(text.slice(0, digit));
  if (end > BEGINNING_MAX) end = Math.max(lastClauseEnd(text), text.lastIndexOf(' '));
  const sentence = text.slice(0, end).split(/[.!?](?=\s|$)|[\n\r]/u, 1)[0] ?? '';
  const name = sentence.replace(/[\s,;:([{]{1,80}$/u, '');
  const hasLetters = /\p{L}/u.test(name);
  return hasLetters && name.isWellFormed() && !(plate && plateKey(name).includes(plate)) ? name : null;
}

/** The position of the last mark that ends a part of a sentence; 0 if there is none. */
function lastClauseEnd(text: string): number {
  return Math.max(0, ...CLAUSE_ENDS.map((mark) => text.lastIndexOf(mark)));
}

/** The name of a type in words: "Vehicle fire" for VEHICLE_FIRE. Null if it may contain a plate. */
function wordsOf(type: unknown): string | null {
  if (typeof type !== 'string' || type.length > BEGINNING_MAX || /\p{N}/u.test(type)) return null;
  const words = type
    .replaceAll(/[_\s-]/gu, ' ')
    .trim()
    .toLowerCase();
  return words === '' || words === 'other' ? null : words.charAt(0).toUpperCase() + words.slice(1);
}

function typeNamed(name: unknown): IncidentType | undefined {
  return typeof name === 'string' ? typesByName.get(name.trim().toUpperCase()) : undefined;
}

function metadataOf({ metadataJson }: Report): {
  incidentType?: unknown;
  incidentKey?: unknown;
  incidentEnd?: unknown;
  record?: unknown;
} {
  return metadataJson === null ? {} : JSON.parse(metadataJson);
}
