import { setImmediate } from 'node:timers/promises';
import type { MessageStatus } from '@gantry/contract/connections';
import { formatNamed } from '@gantry/device-formats';
import type { ObservedPeriod, Reading } from '@gantry/device-formats/format';
import type { MapInput } from '@gantry/device-formats/mapper';
import { joinedPeriods } from '@gantry/device-formats/periods';
import pLimit from 'p-limit';
import { handleGatewayHeartbeat } from '../sensors/heartbeat.ts';
import { storePeriods } from '../traffic/periods.ts';
import type { GatewayApp } from './context.ts';
import type { ReportDates } from './date-reports.ts';
import { noteDiscovery } from './discoveries-store.ts';
import {
  type ClaimedMessage,
  MESSAGES_WITH_EVENTS,
  type MessageResult,
  type NewMessage,
} from './messages-store.ts';
import {
  assignedSensor,
  countsNotAssigned,
  countsOfSeveral,
  countsRefused,
  discoveredName,
  notAssigned,
  oneOfSeveral,
  reasonOf,
  statusWithoutReports,
} from './outcome.ts';
import type { Passages } from './passages.ts';
import type { PassageKey } from './passages-store.ts';
import { interpret } from './read.ts';
import type { KnownConnection } from './store.ts';
import { type ReportOutcome, storeReport, storeReportWith } from './store-report.ts';

/** A result without what identifies its message. */
type Verdict = Omit<MessageResult, 'id' | 'claim' | 'retryMs'>;

/** A message with its connection, and when its device was in contact, in Unix milliseconds. */
interface Taken {
  readonly connection: KnownConnection;
  readonly message: ClaimedMessage;
  readonly contactAt: number;
}

/**
 * Maximum number of reports of one message that are stored at the same time, because the queue of events has room for only
 * a limited number of events of a sensor.
 */
const MAX_REPORTS_AT_ONCE = 1_000;

/** After this many reports of a message, other work has a turn. */
const REPORTS_A_TURN = 500;

/** Converts messages to events. */
export class Converter {
  readonly #app: GatewayApp;
  readonly #passages: Passages;
  readonly #dates: ReportDates;
  /** The first camera that was seen of each connection without `options.sensors`. */
  readonly #firstCameras = new Map<string, string>();

  constructor(app: GatewayApp, passages: Passages, dates: ReportDates) {
    this.#app = app;
    this.#passages = passages;
    this.#dates = dates;
  }

  /**
   * Interprets a message and stores what it reports. When the promise resolves, all that depends on the order of the
   * messages of a connection is done; the returned function gives the result.
   * @param held receives the passages in which its reports are held
   * @throws Error when the message cannot be processed now, or when processing it fails
   */
  async convert(message: ClaimedMessage, held: PassageKey[]): Promise<() => Promise<Verdict>> {
    const { connections, clock, settings } = this.#app;
    // A message that is processed again must be read with the present settings of its connection.
    const { connectionId, claim } = message;
    const connection = await (claim > 0 ? connections.read(connectionId) : connections.byId(connectionId));
    if (!connection) return async () => withoutEvents('REFUSED', ['The connection was deleted']);
    // A message of a buffer may be old, but the contact is new.
    const contactAt = claim > 0 ? message.receivedAt : clock.now();
    const taken = { connection, message, contactAt };
    const reading = await interpret(connection, message, {
      zone: settings.current().timezone,
      map: this.#map,
    });
    const untaken = await this.#takePeriods(taken, reading.periods ?? []);
    if (reading.reports.length === 0) {
      const verdict = await this.#takeStatus(taken, reading, untaken);
      return async () => verdict;
    }
    const warnings = new Set(untaken);
    const started = await this.#takeReports(taken, reading.reports, held, warnings);
    return async () => verdictOf(await Promise.all(started), [reading.note, ...warnings, ...message.flaws]);
  }

  /**
   * Stores a message that has just arrived together with its event, by one commit instead of four statements. It must report
   * one vehicle, and nothing that only the database can tell.
   * @returns whether it did so; otherwise nothing was stored
   * @throws Error when that is not possible now
   */
  async storeWithEvent(message: ClaimedMessage, row: NewMessage): Promise<boolean> {
    const { connections, clock, settings, knownSensors, lastSeen } = this.#app;
    const connection = await connections.byId(message.connectionId);
    if (!connection) return false;
    // Without mappings, which another process evaluates.
    const reading = await interpret(connection, message, { zone: settings.current().timezone });
    const [report, ...others] = reading.reports;
    if (!report || others.length > 0 || (reading.periods ?? []).length > 0) return false;
    const sensorId = await assignedSensor(knownSensors, connection, report.device);
    if (sensorId === null || this.#otherCameraOf(connection, report.device) !== null) return false;
    const found = this.#dates.dateFirst(connection, message, { report, index: 0, sensorId });
    if (!found) return false;
    const { dated, first } = found;
    const note = reasonOf([dated.note, reading.note, ...message.flaws]);
    lastSeen.recordByConnection(sensorId, clock.now());
    const eventId = await storeReportWith(this.#app, dated, (eventId) => ({
      rows: MESSAGES_WITH_EVENTS,
      row: { ...row, eventId, note, report: first },
    }));
    return eventId !== null;
  }

  /** Evaluates a mapping. @throws Error when that is not possible now: the message is tried again */
  readonly #map: MapInput = async (expression, input, zone) => {
    const outcome = await this.#app.mapper.map(expression, input, zone);
    if ('refusal' in outcome && outcome.isTemporary) throw new Error(outcome.refusal);
    return outcome;
  };

  /** Handles a message without reports: records the contact with its device, and a liveness signal if the message is one. */
  async #takeStatus(taken: Taken, reading: Reading, untaken: readonly string[]): Promise<Verdict> {
    const { knownSensors, lastSeen, clock, config } = this.#app;
    const { connection, message, contactAt } = taken;
    const notes = [reading.note, ...untaken, ...message.flaws];
    const names = reading.device ?? [];
    const sensorId = await assignedSensor(knownSensors, connection, names);
    if (sensorId === null) {
      return withoutEvents('UNKNOWN_DEVICE', [await this.#discover(taken, names), ...notes]);
    }
    lastSeen.recordByConnection(sensorId, contactAt);
    const status = statusWithoutReports(reading.is);
    // A message that a buffer kept for long, or that is processed again later, does not show that the device works now.
    const isRecent = clock.now() - message.receivedAt < config.HEARTBEAT_TIMEOUT_SECONDS * 1_000;
    if (status === 'ALIVE' && isRecent) await handleGatewayHeartbeat(this.#app, sensorId);
    return withoutEvents(status, notes);
  }

  /**
   * Stores the counts of a message. A publication may contain thousands of sites, so those without a sensor are not listed as
   * discoveries.
   * @returns which of them were not stored, as sentences
   */
  async #takePeriods(
    { connection, contactAt }: Taken,
    periods: readonly ObservedPeriod[],
  ): Promise<string[]> {
    const byDevice = new Map<string, ObservedPeriod[]>();
    for (const period of periods) {
      const name = discoveredName(period.device);
      const own = byDevice.get(name);
      if (own) own.push(period);
      else byDevice.set(name, [period]);
    }
    if (connection.options.sensors === undefined && byDevice.size > 1)
      return [countsOfSeveral(byDevice.size)];
    const bySensor = new Map<string, ObservedPeriod[]>();
    const unassigned: string[] = [];
    for (const [name, own] of byDevice) {
      const sensorId = await assignedSensor(this.#app.knownSensors, connection, own[0]?.device ?? []);
      if (sensorId === null) unassigned.push(name);
      else bySensor.set(sensorId, [...(bySensor.get(sensorId) ?? []), ...own.map(withoutDevice)]);
    }
    const refused: string[] = [];
    for (const [sensorId, own] of bySensor) {
      const sensor = await this.#app.knownSensors.find(sensorId);
      if (!sensor) continue;
      this.#app.lastSeen.recordByConnection(sensorId, contactAt);
      const counted = joinedPeriods(own).map(({ device: _, ...period }) => period);
      const results = await storePeriods(this.#app, sensor, counted);
      refused.push(...results.flatMap((result) => ('error' in result ? [result.error.message] : [])));
    }
    return [
      ...(unassigned.length === 0 ? [] : [countsNotAssigned(unassigned)]),
      ...(refused.length === 0 ? [] : [countsRefused(refused)]),
    ];
  }

  /** Starts to store the reports of a message, and holds those that are parts of passages. */
  async #takeReports(
    taken: Taken,
    reports: Reading['reports'],
    held: PassageKey[],
    warnings: Set<string>,
  ): Promise<Promise<ReportOutcome>[]> {
    const { connection, message, contactAt } = taken;
    const started: Promise<ReportOutcome>[] = [];
    const atOnce = reports.length > MAX_REPORTS_AT_ONCE ? pLimit(MAX_REPORTS_AT_ONCE) : undefined;
    for (const [index, report] of reports.entries()) {
      if (index > 0 && index % REPORTS_A_TURN === 0) await setImmediate();
      const sensorId = await assignedSensor(this.#app.knownSensors, connection, report.device);
      if (sensorId === null) {
        const note = await this.#discover(taken, report.device);
        started.push(Promise.resolve({ kind: 'unknownDevice', note }));
        continue;
      }
      this.#app.lastSeen.recordByConnection(sensorId, contactAt);
      const warning = await this.#severalCameras(taken, report.device);
      if (warning !== null) warnings.add(warning);
      const dated = () => this.#dates.date(connection, message, { report, index, sensorId });
      if (report.passage) {
        const outcome = await this.#passages.hold(await dated());
        if (outcome.kind === 'held') {
          held.push({ connectionId: connection.id, sensorId, passage: report.passage.id });
        }
        started.push(Promise.resolve(outcome));
      } else {
        const store = async () => storeReport(this.#app, await dated());
        started.push(atOnce ? atOnce(store) : store());
      }
    }
    for (const each of started) each.catch(() => undefined);
    return started;
  }

  /** Lists a device that is not assigned to a sensor. @returns the sentence about it */
  async #discover(taken: Taken, names: readonly string[]): Promise<string> {
    const device = discoveredName(names);
    await this.#list(taken, device);
    return notAssigned(device);
  }

  /** Lists the cameras of a connection that should name a sensor for each; null if there is only one. */
  async #severalCameras(taken: Taken, names: readonly string[]): Promise<string | null> {
    const first = this.#otherCameraOf(taken.connection, names);
    if (first === null) return null;
    const camera = discoveredName(names);
    for (const device of [first, camera]) await this.#list(taken, device);
    return oneOfSeveral(camera);
  }

  /** The first camera of a connection that should name a sensor for each, if the report is of another one; otherwise null. */
  #otherCameraOf({ id, format, options }: KnownConnection, names: readonly string[]): string | null {
    const camera = discoveredName(names);
    if (options.sensors !== undefined || camera === '' || !formatNamed(format).namesCamera) return null;
    const first = this.#firstCameras.get(id) ?? camera;
    this.#firstCameras.set(id, first);
    return first.toLowerCase() === camera.toLowerCase() ? null : first;
  }

  #list({ connection, message }: Taken, device: string): Promise<void> {
    return noteDiscovery(this.#app.gateways, { connectionId: connection.id, device, at: message.receivedAt });
  }
}

/** A period as its sensor reports it, so that the classes of several devices of a sensor are joined. */
function withoutDevice(period: ObservedPeriod): ObservedPeriod {
  return { ...period, device: [] };
}

function withoutEvents(status: MessageStatus, reasons: readonly (string | null)[]): Verdict {
  return { status, reason: reasonOf(reasons), eventIds: [] };
}

/** The verdict on a message: its status is the most important outcome of its reports. */
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
