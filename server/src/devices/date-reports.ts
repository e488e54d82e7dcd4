import { hash } from 'node:crypto';
import { formatNamed } from '@gantry/device-formats';
import { believedTime, disbeliefIn, withEnoughConfidence } from '@gantry/device-formats/compose';
import type { Report } from '@gantry/device-formats/format';
import { isBadRow } from '../platform/database/failure.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import { EDGE } from './incoming.ts';
import type { ClaimedMessage } from './messages-store.ts';
import { reasonOf } from './outcome.ts';
import { type FirstReport, firstRepetition, firstReports, type ReportTime } from './reports-store.ts';
import type { KnownConnection } from './store.ts';
import type { DatedReport } from './store-report.ts';

/** A report of a message, its number in the message, and its sensor. */
interface SensorReport {
  readonly report: Report;
  readonly index: number;
  readonly sensorId: string;
}

/** How long the same body without a key is the same report, in milliseconds, unless the format specifies another time. */
const REPETITION_MS = 60_000;

/** How long reports are gathered for one statement, in milliseconds. Their senders have been answered. */
const GATHER_MS = 10;

type GivenTime = Omit<FirstReport, 'keyHash'>;

/** Gives reports their keys and times. */
export class ReportDates implements AsyncDisposable {
  readonly #app: GatewayApp;
  readonly #firstReports: Groups<ReportTime, FirstReport>;

  constructor(app: GatewayApp) {
    this.#app = app;
    this.#firstReports = new Groups({
      write: (items) => firstReports(app.gateways, items),
      mayBeOne: isBadRow,
      gatherMs: GATHER_MS,
    });
  }

  /** Returns the report with its key and times. A report that was sent before gets the times of the first one. */
  async date(
    connection: KnownConnection,
    message: ClaimedMessage,
    { report, index, sensorId }: SensorReport,
  ): Promise<DatedReport> {
    const { event, note } = withEnoughConfidence(report.event, connection.options);
    const given = {
      connectionId: connection.id,
      believedAt: believedTime(report.occurredAt, message.receivedAt, this.#app.eventTimes.oldestDays),
      receivedAt: message.receivedAt,
      isKnown: false,
    };
    const found = await this.#identify(connection, message, { report, index, sensorId }, given);
    const { key, receivedAt, believedAt, isKnown } = found;
    // A report whose plate was left out must not replace one with a plate.
    const isLeftOut = event.licensePlateNumber !== report.event.licensePlateNumber;
    const passage = report.passage && isLeftOut ? { ...report.passage, quality: -1 } : report.passage;
    return {
      report: { ...report, key, event, ...(passage && { passage }) },
      sensorId,
      connectionId: connection.id,
      messageId: message.id,
      index,
      believedAt,
      receivedAt,
      arrivedAt: message.receivedAt,
      isKnown,
      note: reasonOf([note, disbeliefIn(report, given.believedAt)]),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#firstReports[Symbol.asyncDispose]();
  }

  /** The key of a report and the times of the first report with it. */
  async #identify(
    connection: KnownConnection,
    message: ClaimedMessage,
    { report, index, sensorId }: SensorReport,
    given: GivenTime,
  ): Promise<GivenTime & Pick<Report, 'key'>> {
    const { key, passage } = report;
    if (passage) return { ...given, key };
    if (key !== null) {
      const first = await this.#firstReports.add({ ...given, keyHash: sha256(`${sensorId}\0${key}`) });
      return { ...first, key };
    }
    const { repetitionMs = REPETITION_MS } = formatNamed(connection.format);
    // The id of a message of gantry-edge is derived from its key, so a repetition is not stored again.
    if (repetitionMs === 0 || message.method === EDGE) return { ...given, key };
    const { path, topic, parts } = message;
    const bodyHash = sha256(JSON.stringify([sensorId, index, path, topic, parts]));
    const unkeyed = { ...given, bodyHash, windowMs: repetitionMs };
    const first = await firstRepetition(this.#app.gateways, unkeyed);
    return { ...given, ...first, key: `same:${bodyHash.slice(0, 40)}` };
  }
}

function sha256(text: string): string {
  return hash('sha256', text);
}
