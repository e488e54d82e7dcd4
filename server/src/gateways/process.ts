import { hash } from 'node:crypto';
import type { MessageStatus } from '@gantry/contract/connections';
import pLimit from 'p-limit';
import { believedTime } from '../connections/compose.ts';
import type { Report } from '../connections/format.ts';
import { formatNamed } from '../connections/formats.ts';
import {
  discoveredName,
  interpret,
  notAssigned,
  reasonOf,
  sensorOf,
  statusWithoutReports,
  withEnoughConfidence,
} from '../connections/interpret.ts';
import type { MapInput } from '../connections/mapper.ts';
import type { KnownConnection } from '../connections/store.ts';
import { isBadRow } from '../platform/database/failure.ts';
import type { Database } from '../platform/database/pool.ts';
import { createGroups } from '../platform/groups.ts';
import { recordSignOfLife } from '../sensors/sign-of-life.ts';
import type { GatewayApp } from './context.ts';
import { EDGE } from './incoming.ts';
import { createLanes } from './lanes.ts';
import {
  type ClaimedMessage,
  claimMessages,
  extendLeases,
  firstReports,
  type MessageResult,
  noteDiscovery,
  type ReportTime,
} from './messages-store.ts';
import { createPassages, type ResultWithPassages } from './passages.ts';
import type { PassageKey } from './passages-store.ts';
import { firstRepetition } from './repetitions-store.ts';
import { type DatedReport, type ReportOutcome, storeReport } from './store-report.ts';

/** Converts stored messages to events. Disposing finishes those in progress; the others wait until their leases end. */
export interface Processor extends AsyncDisposable {
  /** Whether it can take another message of the connection now; those that it does not take are left to the sweep. */
  hasRoom(connectionId: string): boolean;
  /** Processes a message that this process has just stored. */
  accept(message: ClaimedMessage): void;
  /** Processes messages whose lease has ended. */
  sweep(isOver: () => boolean): Promise<void>;
  /** Stores the observations of vehicles that are due. */
  sweepPassages(isOver: () => boolean): Promise<void>;
}

/** Number of messages processed at once. Their events are committed in common groups. */
const MOST_AT_ONCE = 64;

/** Messages that wait in memory. Their number of characters is bounded too. */
const MOST_WAITING = 2_000;
const MOST_CHARS = 64_000_000;

/** Reports of one message that are stored at once, because the queue of events has room for a part of a sensor's events. */
const MOST_REPORTS_AT_ONCE = 1_000;

/** The share of these that one connection may take, so that one that sends too much does not delay the others. */
const MOST_AT_ONCE_OF_ONE = 8;
const MOST_WAITING_OF_ONE = 250;
const MOST_CHARS_OF_ONE = 8_000_000;

const CLAIMED_AT_ONCE = 100;
const CLAIMED_BYTES = 32 * 1024 * 1024;

/** After this many failures a message is not tried again, and is processed only by a replay. */
const MOST_FAILURES = 12;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 600_000;

/** How long the same body without a key is the same report, unless the format specifies another time. */
const REPETITION_MS = 60_000;

type GivenTime = Omit<ReportTime, 'keyHash'>;

/** A result without what identifies its message. */
type Verdict = Omit<MessageResult, 'id' | 'claim' | 'retryMs'>;

export function createProcessor(app: GatewayApp, db: Database): Processor {
  const { log, metrics } = app;
  const passages = createPassages(app, db);
  const slots = pLimit(MOST_AT_ONCE);
  const shares = createLanes(MOST_AT_ONCE_OF_ONE);
  /** Messages of a connection are read in the order of their arrival. */
  const inLane = createLanes(1);
  const working = new Set<Promise<void>>();
  let waitingChars = 0;
  const waitingOf = new Map<string, { messages: number; chars: number }>();
  let isEnding = false;

  const isOneBad = (error: unknown): boolean => isBadRow(error);
  const results = createGroups<ResultWithPassages, void>({
    write: async (items) => {
      await passages.record(items);
      return items.map(() => undefined);
    },
    mayBeOne: isOneBad,
  });
  const times = createGroups<ReportTime, ReportTime>({
    write: (items) => firstReports(db, items),
    mayBeOne: isOneBad,
  });

  /** The key of a report and the times of the first report with it. */
  const identify = async (
    connection: KnownConnection,
    message: ClaimedMessage,
    { report, index, sensorId, given }: { report: Report; index: number; sensorId: string; given: GivenTime },
  ): Promise<GivenTime & Pick<Report, 'key'>> => {
    const { key, passage } = report;
    if (passage) return { ...given, key };
    if (key !== null)
      return { ...(await times.add({ ...given, keyHash: sha256(`${sensorId}\0${key}`) })), key };
    const { repetitionMs = REPETITION_MS } = formatNamed(connection.format);
    // A message of gantry-edge has the id that its key gives it.
    if (repetitionMs === 0 || message.method === EDGE) return { ...given, key };
    const { path, topic, parts } = message;
    const bodyHash = sha256(JSON.stringify([sensorId, index, path, topic, parts]));
    const first = await firstRepetition(db, { ...given, bodyHash, windowMs: repetitionMs });
    return { ...first, key: `same:${bodyHash.slice(0, 40)}` };
  };

  const date = async (
    connection: KnownConnection,
    message: ClaimedMessage,
    { report, index, sensorId }: { report: Report; index: number; sensorId: string },
  ): Promise<DatedReport> => {
    const { event, note } = withEnoughConfidence(report.event, connection.options);
    const given = {
      connectionId: connection.id,
      believedAt: believedTime(report.occurredAt, message.receivedAt, app.eventTimes.oldestDays),
      receivedAt: message.receivedAt,
    };
    const { key, receivedAt, believedAt } = await identify(connection, message, {
      report,
      index,
      sensorId,
      given,
    });
    // One whose plate was left out must not replace another one with a plate.
    const passage = report.passage && note !== null ? { ...report.passage, quality: -1 } : report.passage;
    return {
      report: { ...report, key, event, ...(passage && { passage }) },
      sensorId,
      connectionId: connection.id,
      messageId: message.id,
      index,
      believedAt,
      receivedAt,
      arrivedAt: message.receivedAt,
      note,
    };
  };

  const discover = async (connection: KnownConnection, message: ClaimedMessage, names: readonly string[]) => {
    const device = discoveredName(names);
    await noteDiscovery(db, { connectionId: connection.id, device, at: message.receivedAt });
    return notAssigned(device);
  };

  /** Evaluates a mapping. @throws Error when that is not possible now: the message is tried again */
  const map: MapInput = async (expression, input) => {
    const outcome = await app.mapper.map(expression, input);
    if ('refusal' in outcome && outcome.isTemporary) throw new Error(outcome.refusal);
    return outcome;
  };

  /** The sensor of a device; null when it is not assigned to one, or to one that was deleted. */
  const assignedSensor = async (
    connection: KnownConnection,
    names: readonly string[],
  ): Promise<string | null> => {
    const sensorId = sensorOf(connection, names);
    if (sensorId === null || sensorId === connection.sensorId) return sensorId;
    return (await app.knownSensors.find(sensorId)) ? sensorId : null;
  };

  /**
   * Reads the message. When this resolves, all that depends on the order is done; the returned function gives the result.
   * @param held receives the passages in which its reports are held
   */
  const begin = async (message: ClaimedMessage, held: PassageKey[]): Promise<() => Promise<Verdict>> => {
    // A message that is processed again must be read with the present settings of its connection.
    const { connectionId, claim } = message;
    // A message of a buffer may be old, but the contact is new.
    const contactAt = claim > 0 ? message.receivedAt : app.clock.now();
    const connection = await (claim > 0
      ? app.connections.read(connectionId)
      : app.connections.byId(connectionId));
    const nothing = (status: MessageStatus, reasons: readonly (string | null)[]) => async () => ({
      status,
      reason: reasonOf(reasons),
      eventIds: [],
    });
    if (!connection) return nothing('REFUSED', ['The connection was deleted']);
    const reading = await interpret(connection, message, {
      zone: app.settings.current().timezone,
      map,
    });
    const notes = [reading.note, ...message.flaws];
    const { reports } = reading;
    if (reports.length === 0) {
      const names = reading.device ?? [];
      const sensorId = await assignedSensor(connection, names);
      if (sensorId === null) {
        return nothing('UNKNOWN_DEVICE', [await discover(connection, message, names), ...notes]);
      }
      app.lastContacts.recordByConnection(sensorId, contactAt);
      const status = statusWithoutReports(reading.is);
      // One that a buffer kept for long, or that is processed again later, does not show that the device works now.
      const isRecent = app.clock.now() - message.receivedAt < app.config.HEARTBEAT_TIMEOUT_SECONDS * 1_000;
      if (status === 'ALIVE' && isRecent) await recordSignOfLife(app, sensorId);
      return nothing(status, notes);
    }
    const started: Promise<ReportOutcome>[] = [];
    const atOnce = pLimit(MOST_REPORTS_AT_ONCE);
    for (const [index, report] of reports.entries()) {
      const sensorId = await assignedSensor(connection, report.device);
      if (sensorId === null) {
        const note = await discover(connection, message, report.device);
        started.push(Promise.resolve({ kind: 'unknownDevice', note }));
        continue;
      }
      app.lastContacts.recordByConnection(sensorId, contactAt);
      const dated = () => date(connection, message, { report, index, sensorId });
      if (report.passage) {
        const outcome = await passages.hold(await dated());
        if (outcome.kind === 'held') {
          held.push({ connectionId: connection.id, sensorId, passage: report.passage.id });
        }
        started.push(Promise.resolve(outcome));
      } else started.push(atOnce(async () => storeReport(app, await dated())));
    }
    for (const each of started) each.catch(() => undefined);
    return async () => verdictOf(await Promise.all(started), notes);
  };

  const failed = (message: ClaimedMessage, err: unknown): MessageResult => {
    const failures = message.failures + 1;
    const isLast = failures >= MOST_FAILURES;
    log.warn({ err, messageId: message.id, failures }, 'a message of a device could not be processed');
    const eventIds: string[] = [];
    return {
      id: message.id,
      claim: message.claim,
      status: 'FAILED',
      reason: isLast
        ? 'The service failed to process it'
        : 'The service failed to process it and tries again',
      eventIds,
      retryMs: isLast ? null : Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)),
    };
  };

  const { messageLeaseMs } = app.timings;
  /** When the leases of messages that wait or are processed here were set or extended, as `performance.now()`. */
  const leasedAt = new Map<ClaimedMessage, number>();
  let extending: Promise<void> = Promise.resolve();
  const extension = setInterval(() => {
    const now = performance.now();
    const due = [...leasedAt].flatMap(([message, at]) => (now - at < messageLeaseMs / 3 ? [] : [message]));
    if (due.length === 0) return;
    for (const message of due) leasedAt.set(message, now);
    extending = extending
      .then(() => extendLeases(db, due, messageLeaseMs))
      .catch((err: unknown) =>
        log.warn({ err, messages: due.length }, 'the leases of messages could not be extended'),
      );
  }, messageLeaseMs / 3);

  const perform = async (message: ClaimedMessage): Promise<void> => {
    let result: MessageResult;
    const held: PassageKey[] = [];
    try {
      const finish = await inLane(message.connectionId, () => begin(message, held));
      result = { id: message.id, claim: message.claim, ...(await finish()), retryMs: null };
    } catch (error) {
      result = failed(message, error);
    }
    leasedAt.delete(message);
    // An extension that came after the result would postpone the next attempt.
    await extending;
    await results.add({ ...result, passages: held });
    const format = (await app.connections.byId(message.connectionId))?.format ?? 'deleted';
    metrics.deviceMessages.inc({ format, outcome: result.status });
  };

  const track = (message: ClaimedMessage): Promise<void> => {
    leasedAt.set(message, performance.now());
    const unlessEnding = async (): Promise<void> => {
      if (!isEnding) await perform(message);
    };
    // Only a message whose turn has come in its connection takes one of the slots.
    const work: Promise<void> = shares(message.connectionId, () => slots(unlessEnding))
      // Its lease ends, and it is processed again.
      .catch((err: unknown) =>
        log.warn({ err, messageId: message.id }, 'the result of a message was not recorded'),
      )
      .finally(() => {
        leasedAt.delete(message);
        working.delete(work);
      });
    working.add(work);
    return work;
  };

  const charsOf = ({ parts }: ClaimedMessage): number =>
    parts.reduce((sum, { text, base64 }) => sum + (text?.length ?? 0) + (base64?.length ?? 0), 0);

  return {
    hasRoom(connectionId) {
      const own = waitingOf.get(connectionId);
      if (own && (own.messages >= MOST_WAITING_OF_ONE || own.chars >= MOST_CHARS_OF_ONE)) return false;
      return !isEnding && working.size < MOST_WAITING && waitingChars < MOST_CHARS;
    },

    accept(message) {
      if (isEnding) return;
      const { connectionId } = message;
      const own = waitingOf.get(connectionId) ?? { messages: 0, chars: 0 };
      waitingOf.set(connectionId, own);
      const chars = charsOf(message);
      own.messages++;
      own.chars += chars;
      waitingChars += chars;
      void track(message).finally(() => {
        waitingChars -= chars;
        own.chars -= chars;
        if (--own.messages === 0) waitingOf.delete(connectionId);
      });
    },

    async sweep(isOver) {
      while (!isOver()) {
        const claimed = await claimMessages(db, {
          most: CLAIMED_AT_ONCE,
          mostBytes: CLAIMED_BYTES,
          leaseMs: app.timings.messageLeaseMs,
        });
        if (claimed.length === 0) return;
        await Promise.all(claimed.map(track));
      }
    },

    async sweepPassages(isOver) {
      while (!isOver() && (await passages.sweep(CLAIMED_AT_ONCE)) === CLAIMED_AT_ONCE);
    },

    async [Symbol.asyncDispose]() {
      isEnding = true;
      await Promise.all(working);
      clearInterval(extension);
      await results[Symbol.asyncDispose]();
      await times[Symbol.asyncDispose]();
    },
  };
}

function sha256(text: string): string {
  return hash('sha256', text);
}

/** The most important outcome of the reports is that of the message. */
function verdictOf(outcomes: readonly ReportOutcome[], notes: readonly (string | null)[]): Verdict {
  const kinds = new Set(outcomes.map(({ kind }) => kind));
  const status = kinds.has('stored')
    ? 'STORED'
    : kinds.has('held')
      ? 'HELD'
      : kinds.has('duplicate')
        ? 'DUPLICATE'
        : kinds.has('unknownDevice')
          ? 'UNKNOWN_DEVICE'
          : 'REFUSED';
  return {
    status,
    reason: reasonOf([...outcomes.map((outcome) => ('note' in outcome ? outcome.note : null)), ...notes]),
    eventIds: [...new Set(outcomes.flatMap((outcome) => ('eventId' in outcome ? outcome.eventId : [])))],
  };
}
