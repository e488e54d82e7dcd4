import type { ConnectionOptions } from '@gantry/contract/connections';
import { believedTime, composeEvent } from './compose.ts';
import type { FormatName } from './format.ts';
import type { MapInput } from './mapper.ts';
import { readMessage } from './read-message.ts';
import { splitBody } from './split-body.ts';

/** The body of a device's message, without the connection that received it. */
export interface BodyToTry {
  readonly format: FormatName;
  readonly body: Buffer;
  /** The header Content-Type, if any. */
  readonly contentType: string | null;
  /** The path below the address of the connection. */
  readonly path: string;
  /** The MQTT topic; null for HTTP. */
  readonly topic: string | null;
  /** IANA time zone of times without an offset. */
  readonly zone: string;
  readonly options: ConnectionOptions;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** Evaluates mappings. */
  readonly map: MapInput;
}

/**
 * What the body would become: its parts, what the format reads in it, and the events as they would be stored. Nothing is
 * stored, and no service or database is needed.
 */
export async function tryBody({ format, body, contentType, receivedAt, ...given }: BodyToTry) {
  const split = splitBody(contentType, body);
  const { path, topic, options, zone, map } = given;
  const rules = { format, timeZone: zone, options };
  const reading = await readMessage(rules, { parts: split.parts, path, topic, receivedAt }, { zone, map });
  const events = reading.reports.map((report, index) =>
    composeEvent(report, {
      receivedAt,
      believedAt: believedTime(report.occurredAt, receivedAt, null),
      connectionId: 'connection',
      messageId: 'message',
      index,
    }),
  );
  return {
    parts: split.parts.map(({ base64, ...part }) => ({
      ...part,
      ...(base64 && { base64: `${base64.length} characters` }),
    })),
    pictures: split.pictures.map(({ sha256, mediaType, bytes }) => ({
      sha256,
      mediaType,
      bytes: bytes.length,
    })),
    flaws: split.flaws,
    reading: {
      is: reading.is,
      note: reading.note,
      device: reading.device,
      periods: reading.periods,
      reports: reading.reports.map(({ event: _, ...report }) => report),
    },
    events: events.map((each) => ('event' in each ? each.event : each)),
    /** Whether the message is unreadable or one of its events is refused. */
    isRefused: reading.is === 'unreadable' || events.some((each) => 'refusal' in each),
  };
}
