import { MINUTE_MS } from '@gantry/contract/durations';
import type { EventType } from '@gantry/contract/events';
import { composeEvent, idempotencyKeyOf } from '@gantry/device-formats/compose';
import type { Report } from '@gantry/device-formats/format';
import { keyedEventId } from '../events/id.ts';
import { hashesOfServed } from '../images/read-image.ts';
import type { Companion } from '../ingest/insert-statements-store.ts';
import { storeReported } from '../ingest/pipeline.ts';
import { AppError } from '../platform/error.ts';
import type { GatewayApp } from './context.ts';

/** The result of storing a report. */
export type ReportOutcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly eventId: string; readonly note: string | null }
  | { readonly kind: 'held' }
  | { readonly kind: 'unknownDevice' | 'refused'; readonly note: string };

/** A report whose sensor and time are known. */
export interface DatedReport {
  readonly report: Report;
  readonly sensorId: string;
  readonly connectionId: string;
  readonly messageId: string;
  readonly index: number;
  /** Unix milliseconds; null when the time of receipt counts. */
  readonly believedAt: number | null;
  /** When the first report with this key was received, in Unix milliseconds. */
  readonly receivedAt: number;
  /** When this report was received, in Unix milliseconds. */
  readonly arrivedAt: number;
  /** Whether a report with this key was received before, whose event is probably stored. */
  readonly isKnown: boolean;
  readonly note: string | null;
}

/**
 * Stores the event of a report in the same way as `events.ingest`.
 * @throws AppError `unavailable` when it should be tried again
 */
export async function storeReport(app: GatewayApp, dated: DatedReport): Promise<ReportOutcome> {
  const sensor = await app.knownSensors.find(dated.sensorId);
  if (!sensor) return { kind: 'unknownDevice', note: `The sensor ${dated.sensorId} no longer exists` };
  const known = await findKnown(app, dated);
  if (known !== null) {
    app.lastSeen.recordEvent(sensor.id, dated.arrivedAt, dated.report.event.eventType);
    app.metrics.events.inc({ outcome: 'duplicate' });
    return { kind: 'duplicate', eventId: known, note: dated.note };
  }
  const composed = composeEvent(dated.report, dated);
  if ('refusal' in composed) return { kind: 'refused', note: composed.refusal };
  const images = hashesOfServed(composed.event.images);
  try {
    const { eventId, outcome } = await storeReported({ app, sensor }, composed.event, images);
    noteArrival(app, sensor.id, dated, { eventType: composed.event.eventType, isNew: outcome === 'stored' });
    return { kind: outcome === 'stored' ? 'stored' : 'duplicate', eventId, note: dated.note };
  } catch (error) {
    if (error instanceof AppError && error.kind === 'badRequest')
      return { kind: 'refused', note: error.message };
    throw error;
  }
}

/**
 * Stores the event of the first report with its key together with something else.
 * @param companionOf what is stored with the event of the id
 * @returns the id of the event; null if nothing was stored, because that is possible only one after the other
 * @throws AppError as `storeReported` does
 */
export async function storeReportWith(
  app: GatewayApp,
  dated: DatedReport,
  companionOf: (eventId: string) => Companion,
): Promise<string | null> {
  const sensor = await app.knownSensors.find(dated.sensorId);
  const composed = composeEvent(dated.report, dated);
  if (!sensor || 'refusal' in composed || hashesOfServed(composed.event.images).length > 0) return null;
  const { eventId, outcome } = await storeReported({ app, sensor }, composed.event, [], companionOf);
  if (outcome !== 'stored') return null;
  noteArrival(app, sensor.id, dated, { eventType: composed.event.eventType, isNew: true });
  return eventId;
}

interface Arrival {
  readonly eventType: EventType;
  /** Whether its event was stored only now. */
  readonly isNew: boolean;
}

function noteArrival(
  app: GatewayApp,
  sensorId: string,
  dated: DatedReport,
  { eventType, isNew }: Arrival,
): void {
  // The time at which a buffer received the message, if one kept it: its arrival here is not a liveness signal of the sensor.
  app.lastSeen.recordEvent(sensorId, dated.arrivedAt, eventType);
  if (isNew) noteClock(app, sensorId, dated);
}

/**
 * The id of the event of a known report, if it is stored or was deleted by a user; otherwise null. A snapshot consists
 * mostly of such reports: making the event of each, only to find it stored, took a third of its processing.
 */
async function findKnown(app: GatewayApp, dated: DatedReport): Promise<string | null> {
  const { isKnown, report, sensorId, believedAt, receivedAt } = dated;
  if (!isKnown) return null;
  const id = keyedEventId(believedAt ?? receivedAt, sensorId, idempotencyKeyOf(report, dated));
  return (await app.knownEvents.add([id])).has(id) ? id : null;
}

/** A message that arrived longer ago was in a buffer, or is processed again. In milliseconds. */
const LIVE_MS = 10 * MINUTE_MS;

/** Notes what the time of a report says about the clock of its sensor. */
function noteClock(app: GatewayApp, sensorId: string, dated: DatedReport): void {
  const { receivedAt, arrivedAt, believedAt } = dated;
  const { occurredAt, timeFlaw } = dated.report;
  if (believedAt === null && (occurredAt !== null || timeFlaw !== undefined)) {
    app.sensorClocks.recordUnusableTime(sensorId, arrivedAt);
  }
  if (occurredAt === null || app.clock.now() - arrivedAt > LIVE_MS) return;
  app.sensorClocks.recordReport(sensorId, {
    arrivedAt: receivedAt,
    lagMs: receivedAt - (believedAt ?? occurredAt),
  });
}
