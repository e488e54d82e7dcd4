import type { ConnectionOptions, MessageStatus } from '@gantry/contract/connections';
import {
  believedTime,
  composeEvent,
  disbeliefIn,
  withEnoughConfidence,
} from '@gantry/device-formats/compose';
import type { Core } from '../platform/context.ts';
import { AppError, notFound } from '../platform/error.ts';
import type { SensorServices } from '../sensors/start.ts';
import type { ConnectionServices } from './context.ts';
import { findMessageToRead, type MessageToRead } from './messages-view-store.ts';
import { assignedSensor, discoveredName, notAssigned, reasonOf, statusWithoutReports } from './outcome.ts';
import { interpret } from './read.ts';
import { findConnection, type KnownConnection } from './store.ts';

type TryingApp = Core & Pick<ConnectionServices, 'mapper'> & Pick<SensorServices, 'knownSensors'>;

/** What a message would become. */
export interface TriedReading {
  readonly messageId: string;
  readonly status: MessageStatus;
  readonly reason: string | null;
  readonly events: Record<string, unknown>[];
}

/** A message to read, by default the last one, perhaps with other options than those of the connection. */
export interface Trial {
  /** The id of the connection. */
  readonly id: string;
  readonly options?: ConnectionOptions | undefined;
  readonly messageId?: string | undefined;
}

/**
 * What a message would become, without storing anything. Several reports about one vehicle are not joined: each is an
 * event here.
 * @throws AppError `notFound` for the connection, or when there is no message
 */
export async function tryReading(app: TryingApp, { id, options, messageId }: Trial): Promise<TriedReading> {
  const known = await findConnection(app.db, id);
  if (!known) throw notFound('Connection');
  const connection = options === undefined ? known : { ...known, options };
  const message = await findMessageToRead(app.db, known.id, messageId ?? null);
  const reading = await interpret(connection, message, {
    zone: app.settings.current().timezone,
    map: app.mapper.map,
  });
  if (reading.reports.length === 0) {
    const names = reading.device ?? [];
    const isKnown = (await assignedSensor(app.knownSensors, connection, names)) !== null;
    return {
      messageId: message.id,
      status: isKnown ? statusWithoutReports(reading.is) : 'UNKNOWN_DEVICE',
      reason: reasonOf([isKnown ? null : notAssigned(discoveredName(names)), reading.note, ...message.flaws]),
      events: [],
    };
  }
  const composed = await Promise.all(
    reading.reports.map((report, index) => compose(app, connection, message, report, index)),
  );
  const events = composed.flatMap(({ event }) => (event === null ? [] : [event]));
  const isUnknown = composed.some(({ status }) => status === 'UNKNOWN_DEVICE');
  return {
    messageId: message.id,
    status: events.length > 0 ? 'STORED' : isUnknown ? 'UNKNOWN_DEVICE' : 'REFUSED',
    reason: reasonOf([...composed.map(({ note }) => note), reading.note, ...message.flaws]),
    events,
  };
}

/** What one report would become. */
interface Tried {
  readonly status: MessageStatus;
  readonly event: Record<string, unknown> | null;
  readonly note: string | null;
}

async function compose(
  app: TryingApp,
  connection: KnownConnection,
  message: MessageToRead,
  report: Parameters<typeof composeEvent>[0],
  index: number,
): Promise<Tried> {
  if ((await assignedSensor(app.knownSensors, connection, report.device)) === null) {
    return { status: 'UNKNOWN_DEVICE', event: null, note: notAssigned(discoveredName(report.device)) };
  }
  const { event, note } = withEnoughConfidence(report.event, connection.options);
  const { receivedAt } = message;
  const believedAt = believedTime(report.occurredAt, receivedAt, app.config.OLDEST_EVENT_DAYS ?? null);
  const composition = { receivedAt, believedAt, connectionId: connection.id, messageId: message.id, index };
  const made = composeEvent({ ...report, event }, composition);
  if ('refusal' in made) return { status: 'REFUSED', event: null, note: made.refusal };
  const json = JSON.parse(JSON.stringify(made.event)) as Record<string, unknown>;
  return {
    status: 'STORED',
    event: json,
    note: reasonOf([note, disbeliefIn(report, believedAt)]),
  };
}

/** Why a mapping cannot be evaluated on the last message of a connection; null if it can, or there is no message. */
export async function refusalOfMapping(
  app: TryingApp,
  id: string,
  options: ConnectionOptions,
): Promise<string | null> {
  const known = await findConnection(app.db, id);
  if (!known) throw notFound('Connection');
  const message = await findMessageToRead(app.db, known.id, null).catch((error: unknown) => {
    if (error instanceof AppError && error.kind === 'notFound') return null;
    throw error;
  });
  if (!message) return null;
  // A pause in the evaluation of the present mapping does not prevent changes to the other options.
  const isUnchanged = options.mapping === known.options.mapping;
  let refusal: string | null = null;
  await interpret({ ...known, options }, message, {
    zone: app.settings.current().timezone,
    map: async (expression, input, zone) => {
      const mapped = await app.mapper.map(expression, input, zone);
      if ('refusal' in mapped && !(isUnchanged && mapped.isTemporary)) refusal = mapped.refusal;
      return mapped;
    },
  });
  return refusal;
}
