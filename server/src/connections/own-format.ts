import { reportedEvent } from '@gantry/contract/events';
import { resolveTime } from '../platform/time.ts';
import { type Format, type Report, without } from './format.ts';
import { arrayOf, objectOf, textOf } from './json-values.ts';

/** The service's own format: an event as for `events.ingest`, an array of them, or an object with `events`. */
export const ownFormat: Format = {
  name: 'gantry',
  label: 'Gantry JSON',
  transports: ['http', 'mqtt'],
  authentication: ['basic', 'digest', 'header', 'mqtt'],
  repeats: true,
  topics: ['gantry/+/events'],

  read({ parts, topic }, { zone }) {
    const content = parts.find((part) => part.content.kind === 'json')?.content;
    if (content?.kind !== 'json') return without('unreadable', 'The message is not JSON');
    const { value } = content;
    const events = Array.isArray(value)
      ? value
      : Array.isArray(objectOf(value).events)
        ? arrayOf(objectOf(value).events)
        : [value];
    if (events.length === 0) return without('nothing', 'The message contains no events');
    const device = /^gantry\/([^/]+)\/events$/.exec(topic ?? '')?.[1];
    const notes: string[] = [];
    const reports = events.flatMap((event, index): Report[] => {
      const { apiKey: _, ...fields } = objectOf(event) as { apiKey?: unknown };
      const parsed = reportedEvent.safeParse(fields);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        notes.push(`Event ${index} is invalid: ${issue?.path.join('.')}: ${issue?.message}`);
        return [];
      }
      const { idempotencyKey, timestamp, ...observed } = parsed.data;
      const name = textOf(objectOf(event).deviceId) ?? device;
      return [
        {
          key: idempotencyKey ?? null,
          device: name === undefined ? [] : [name],
          occurredAt: timestamp === undefined ? null : resolveTime(timestamp, zone),
          event: observed,
        },
      ];
    });
    const note = notes.length === 0 ? null : notes.join('; ');
    return reports.length === 0 ? without('unreadable', note ?? '') : { reports, is: 'reports', note };
  },

  answer: () => ({ contentType: 'application/json', body: '{"success":true}' }),

  instructions: ({ url, username, password }) => [
    `Send each event as JSON with POST to ${url}. The fields are those of events.ingest, without apiKey.`,
    `Alternatively, use Basic or Digest authentication with the user name ${username} and the password ${password}.`,
    'Give each event an idempotencyKey and a timestamp, so that an event that is sent again is stored once.',
    'Over MQTT, publish each event to the topic gantry/<deviceId>/events.',
  ],
};
