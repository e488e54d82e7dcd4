import { hash } from 'node:crypto';
import { formatNamed } from '@gantry/device-formats';
import { believedTime, disbeliefIn, withEnoughConfidence } from '@gantry/device-formats/compose';
import type { Report } from '@gantry/device-formats/format';
import { isBadRow } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { Groups } from '../platform/groups.ts';
import type { GatewayApp } from './context.ts';
import { EDGE } from './incoming.ts';
import { reasonOf } from './interpret.ts';
import type { ClaimedMessage } from './messages-store.ts';
import { type FirstReport, firstRepetition, firstReports, type ReportTime } from './reports-store.ts';
import type { KnownConnection } from './store.ts';
import type { DatedReport } from './store-report.ts';

/** A report of a message, its number in the message, and its sensor. */
export interface SensorReport {
  readonly report: Report;
  readonly index: number;
  readonly sensorId: string;
}

/** Gives reports their keys and times. */
export interface ReportDates extends AsyncDisposable {
  /** Returns the report with its key and times. A report that was sent before gets the times of the first one. */
  date(connection: KnownConnection, message: ClaimedMessage, report: SensorReport): Promise<DatedReport>;
}

/** How long the same body without a key is the same report, in milliseconds, unless the format specifies another time. */
const REPETITION_MS = 60_000;

type GivenTime = Omit<FirstReport, 'keyHash'>;

export function createReportDates(app: GatewayApp, db: Database): ReportDates {
  const times = new Groups<ReportTime, FirstReport>({
    write: (items) => firstReports(db, items),
    mayBeOne: isBadRow,
  });

  /** The key of a report and the times of the first report with it. */
  const identify = async (
    connection: KnownConnection,
    message: ClaimedMessage,
    { report, index, sensorId }: SensorReport,
    given: GivenTime,
  ): Promise<GivenTime & Pick<Report, 'key'>> => {
    const { key, passage } = report;
    if (passage) return { ...given, key };
    if (key !== null)
      return { ...(await times.add({ ...given, keyHash: sha256(`${sensorId}\0${key}`) })), key };
    const { repetitionMs = REPETITION_MS } = formatNamed(connection.format);
    // The id of a message of gantry-edge is derived from its key, so a repetition is not stored again.
    if (repetitionMs === 0 || message.method === EDGE) return { ...given, key };
    const { path, topic, parts } = message;
    const bodyHash = sha256(JSON.stringify([sensorId, index, path, topic, parts]));
    const first = await firstRepetition(db, { ...given, bodyHash, windowMs: repetitionMs });
    return { ...given, ...first, key: `same:${bodyHash.slice(0, 40)}` };
  };

  return {
    async date(connection, message, { report, index, sensorId }) {
      const { event, note } = withEnoughConfidence(report.event, connection.options);
      const given = {
        connectionId: connection.id,
        believedAt: believedTime(report.occurredAt, message.receivedAt, app.eventTimes.oldestDays),
        receivedAt: message.receivedAt,
        isKnown: false,
      };
      const { key, receivedAt, believedAt, isKnown } = await identify(
        connection,
        message,
        { report, index, sensorId },
        given,
      );
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
    },
    [Symbol.asyncDispose]: () => times[Symbol.asyncDispose](),
  };
}

function sha256(text: string): string {
  return hash('sha256', text);
}
