import type { CaseChange } from '@gantry/contract/cases';
import { passageFilterNames } from '@gantry/contract/event-filters';
import type { Event, EventFilter, Severity } from '@gantry/contract/events';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { WebhookFilter, WebhookKind } from '@gantry/contract/webhooks';
import { matchesFilter } from '../events/matches.ts';
import { isViolation, rankOf } from '../events/severity.ts';

/** Something that happened, of a kind that webhooks can subscribe to. */
export interface Occurrence {
  readonly kind: WebhookKind;
  /** The body of that kind by the contract: an Event, an IncidentChange, … */
  readonly subject: object;
}

/** The kinds of webhooks that concern events. */
type EventKind = 'event.ingested' | 'event.violation';

/** The properties of a kind to which filters apply: fields with the names of event fields, and the severity. */
interface Trait {
  readonly fields: readonly (keyof WebhookFilter & keyof EventFilter)[];
  /** Returns the object with those fields. */
  readonly of: (subject: object) => object;
  readonly severity: ((subject: object) => Severity | null) | null;
}

const eventTrait: Trait = {
  fields: [
    'eventType',
    'violationType',
    'vehicleType',
    'licensePlateNumber',
    'locationName',
    'sensorId',
    ...passageFilterNames,
  ],
  of: (subject) => subject,
  severity: (subject) => (subject as Event).severity,
};

const traits: Readonly<Record<WebhookKind, Trait>> = {
  'event.ingested': eventTrait,
  'event.violation': eventTrait,
  'incident.changed': {
    fields: ['sensorId'],
    of: (subject) => (subject as IncidentChange).incident,
    severity: (subject) => (subject as IncidentChange).incident.severity,
  },
  'sensor.statusChanged': { fields: ['sensorId'], of: (subject) => subject, severity: null },
  'watchlist.alert': {
    fields: ['licensePlateNumber', 'locationName', 'sensorId'],
    of: (subject) => subject,
    severity: (subject) => (subject as WatchlistAlert).priority,
  },
  activity: { fields: [], of: (subject) => subject, severity: null },
  'case.changed': {
    fields: ['violationType', 'licensePlateNumber', 'locationName', 'sensorId'],
    of: (subject) => (subject as CaseChange).case,
    severity: null,
  },
};

/** Whether an occurrence matches a filter. Conditions on fields that a kind does not have are ignored. */
export function matchesKind(kind: WebhookKind, filter: WebhookFilter): (subject: object) => boolean {
  const { fields, of, severity } = traits[kind];
  const asked = Object.fromEntries(fields.map((field) => [field, filter[field]]));
  // It reads only the given fields, which exist.
  const matches = matchesFilter(asked) as (subject: object) => boolean;
  const { minSeverity } = filter;
  return (subject) =>
    (severity === null || minSeverity === undefined || isUrgentEnough(severity(subject), minSeverity)) &&
    matches(of(subject));
}

/** An event as occurrences: of one kind, or of two if it is a violation. */
export function occurrencesOf(event: Event): readonly (Occurrence & { readonly kind: EventKind })[] {
  return isViolation(event.eventType, event.violationType)
    ? [
        { kind: 'event.ingested', subject: event },
        { kind: 'event.violation', subject: event },
      ]
    : [{ kind: 'event.ingested', subject: event }];
}

function isUrgentEnough(severity: Severity | null, least: Severity): boolean {
  return severity !== null && rankOf(severity) >= rankOf(least);
}
