import { hash } from 'node:crypto';
import { formatNamed } from '@gantry/device-formats';
import { believedTime, disbeliefIn, withEnoughConfidence } from '@gantry/device-formats/compose';
import type { Report } from '@gantry/device-formats/format';
import { createBoundedCache } from '../platform/caches.ts';
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

/** Devices repeat a report within seconds or minutes. */
const MAX_LATEST = 20_000;

type GivenTime = Omit<FirstReport, 'keyHash'>;

/** Gives reports their keys and times. */
export class ReportDates implements AsyncDisposable {
  readonly #app: GatewayApp;
  readonly #firstReports: Groups<ReportTime, FirstReport>;
  /** The keys of the latest reports that were taken for the first ones, or were looked for. */
  readonly #latest = createBoundedCache<string, true>(MAX_LATEST);

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
    const given = this.#given(connection, message, report);
    const found = await this.#identify(connection, message, { report, index, sensorId }, given);
    return datedAs(connection, message, { report, index, sensorId }, given, found);
  }

  /**
   * Returns the report as the first one with its key, and what records that. It must not be stored if the key turns out to
   * be recorded already. Null if there is another one, or only the database can tell.
   */
  dateFirst(
    connection: KnownConnection,
    message: ClaimedMessage,
    of: SensorReport,
  ): { readonly dated: DatedReport; readonly first: ReportTime | null } | null {
    const { key, passage } = of.report;
    if (passage || (key === null && mayRepeat(connection, message))) return null;
    const given = this.#given(connection, message, of.report);
    const dated = datedAs(connection, message, of, given, { ...given, key });
    if (key === null) return { dated, first: null };
    const first = { ...given, keyHash: keyHashOf(of.sensorId, key) };
    return this.#isLatest(first) ? null : { dated, first };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#firstReports[Symbol.asyncDispose]();
  }

  /** The time of a report by what its message says. */
  #given(connection: KnownConnection, { receivedAt }: ClaimedMessage, { occurredAt }: Report): GivenTime {
    const believedAt = believedTime(occurredAt, receivedAt, this.#app.eventTimes.oldestDays);
    return { connectionId: connection.id, believedAt, receivedAt, isKnown: false };
  }

  /** Whether a report with the key was among the latest of the connection; notes that it is now. */
  #isLatest({ connectionId, keyHash }: ReportTime): boolean {
    const id = `${connectionId} ${keyHash}`;
    const isKnown = this.#latest.get(id) === true;
    if (!isKnown) this.#latest.set(id, true);
    return isKnown;
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
      const time = { ...given, keyHash: keyHashOf(sensorId, key) };
      this.#isLatest(time);
      const first = await this.#firstReports.add(time);
      return { ...first, key };
    }
    if (!mayRepeat(connection, message)) return { ...given, key };
    const windowMs = windowOf(connection);
    const { path, topic, parts } = message;
    const bodyHash = sha256(JSON.stringify([sensorId, index, path, topic, parts]));
    const unkeyed = { ...given, bodyHash, windowMs };
    const first = await firstRepetition(this.#app.gateways, unkeyed);
    return { ...given, ...first, key: `same:${bodyHash.slice(0, 40)}` };
  }
}

/** How long the same body without a key is the same report, in milliseconds. */
function windowOf({ format }: KnownConnection): number {
  return formatNamed(format).repetitionMs ?? REPETITION_MS;
}

/** Whether a report without a key may be one that was sent before. */
function mayRepeat(connection: KnownConnection, { method }: ClaimedMessage): boolean {
  // The id of a message of gantry-edge is derived from its key, so a repetition is not stored again.
  return windowOf(connection) > 0 && method !== EDGE;
}

function keyHashOf(sensorId: string, key: string): string {
  return sha256(`${sensorId}\0${key}`);
}

/** The report with the key and times that were found for it. @param given its time by what its message says */
function datedAs(
  connection: KnownConnection,
  message: ClaimedMessage,
  { report, index, sensorId }: SensorReport,
  given: GivenTime,
  { key, receivedAt, believedAt, isKnown }: GivenTime & Pick<Report, 'key'>,
): DatedReport {
  const { event, note } = withEnoughConfidence(report.event, connection.options);
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

function sha256(text: string): string {
  return hash('sha256', text);
}
