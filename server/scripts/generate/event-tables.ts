import {
  byEventType,
  byExcess,
  byViolation,
  SPEEDING_WITHOUT_EXCESS,
  VIOLATION_EVENT_TYPES,
} from '../../src/events/severity.ts';
import { locationNameSources } from '../../src/ingest/enrich.ts';

const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const ofExcess = (): string[][] =>
  byExcess.map(({ upTo, severity }, at) => {
    const above = byExcess[at - 1]?.upTo ?? 0;
    return [Number.isFinite(upTo) ? `more than ${above}, up to ${upTo}` : `more than ${above}`, severity];
  });

/** The rules for the severity of an event. */
export const severityTables = (): string =>
  [
    'A severity sent by the device is used. Otherwise, the severity is determined by the violation type (ignoring case):',
    table(
      ['violationType', 'severity'],
      [...byViolation].map(([type, severity]) => [type, severity]),
    ),
    `\`SPEEDING\` is determined by the speed alone, and is ${SPEEDING_WITHOUT_EXCESS} if the speed or the limit of the location is unknown, or if the ` +
      'speed does not exceed the limit. With any other violation type, or none, the event type determines the severity:',
    table(
      ['eventType', 'severity'],
      Object.entries(byEventType).map(([type, severity]) => [type, severity ?? 'none']),
    ),
    "A speed above the location's limit raises the severity to at least:",
    table(['km/h above the limit', 'severity'], ofExcess()),
  ].join('\n\n');

/** The definition of violations, and where it applies. */
export const violationNote = (): string =>
  `An event is a violation if its type is ${VIOLATION_EVENT_TYPES.map((type) => `\`${type}\``).join(' or ')}, or if it has a \`violationType\`, ` +
  'whatever its type. This holds for the violations that `reports.getAnalytics` counts, for the reports VIOLATIONS and DAILY_SUMMARY, ' +
  'and for webhooks of kind `event.violation`.';

/** The sources of the name of an event's place. */
export const locationNameTable = (): string =>
  [
    'It is set when the event is ingested, to the first of these that exists, otherwise null.',
    table(
      ['', 'Source'],
      locationNameSources.map(({ says }, at) => [String(at + 1), says]),
    ),
  ].join('\n\n');
