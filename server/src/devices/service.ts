import type {
  Connection,
  ConnectionOptions,
  ConnectionSteps,
  CreateConnectionInput,
  CreatedConnection,
  InstructionsInput,
  ReplayInput,
  ReplayOutput,
  UpdateConnectionInput,
} from '@gantry/contract/connections';
import { isUuid } from '@gantry/contract/id';
import { formatNamed } from '@gantry/device-formats';
import type { FormatName } from '@gantry/device-formats/format';
import { IANAZone } from 'luxon';
import { recordActivity } from '../activity/store.ts';
import { requireSeesPlates } from '../events/plate-access.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import type { SensorServices } from '../sensors/start.ts';
import { getSensor, getSensorLocked } from '../sensors/store.ts';
import { addressFor } from './address.ts';
import type { ConnectionServices } from './context.ts';
import { connectionOfMessage, type Replayed, replayMessages } from './messages-view-store.ts';
import { newSecrets, type Secrets, storedSecrets } from './secrets.ts';
import {
  getConnection,
  insertConnection,
  type ListedConnection,
  type LockedConnection,
  lockConnection,
  markDeleted,
  replaceSecrets,
  updateConnectionRow,
} from './store.ts';
import { isTopicFilter, topicsWarning } from './topic.ts';
import { refusalOfMapping } from './try-reading.ts';

export type ConnectionContext = ActorContext<
  Core & ConnectionServices & Pick<SensorServices, 'knownSensors'>
>;

/**
 * Connects a device to a sensor. The secrets are part of the answer, and cannot be read again.
 * @throws AppError `notFound` for the sensor; `badRequest` for a time zone or options that cannot be used; `forbidden` for
 * a mapping of users who see no plates
 */
export async function createConnection(
  ctx: ConnectionContext,
  { sensorId, format, timeZone, options, origin }: CreateConnectionInput,
): Promise<CreatedConnection> {
  const { actor, caller } = ctx;
  if (options.mapping !== undefined) requireSeesPlates(ctx);
  const secrets = newSecrets();
  const shown = showOnce(ctx, format, secrets, origin);
  requireTimeZone(timeZone);
  await requireMapping(ctx.app, format, options, null);
  return changeConnection(ctx, async (tx) => {
    // Locked, so that it is not deleted without its new connection.
    const { id: ownSensorId } = await getSensorLocked(tx, sensorId);
    await requireOptions(tx, options, {});
    const id = await insertConnection(tx, {
      sensorId: ownSensorId,
      format,
      timeZone: timeZone ?? null,
      options,
      secrets: storedSecrets(secrets, signs(format)),
    });
    await recordActivity(tx, actor.id, caller, 'connections.create', {
      connectionId: id,
      sensorId: ownSensorId,
      format,
    });
    return { ...connectionView(ctx.app, await getConnection(tx, id)), ...shown };
  });
}

/**
 * Sets how messages of the connection are read from now on; `replay` applies it to earlier ones.
 * @throws AppError `notFound`; `badRequest` for a time zone or options that cannot be used; `forbidden` for another
 * mapping of users who see no plates, because it could copy plates into any field; `conflict` when somebody has changed
 * it since the caller saw it
 */
export async function updateConnection(
  ctx: ConnectionContext,
  { id, expectedUpdatedAt, ...changes }: UpdateConnectionInput,
): Promise<Connection> {
  requireTimeZone(changes.timeZone);
  if (changes.options?.mapping !== undefined) {
    const { format, options } = await getConnection(ctx.app.db, id);
    if (changes.options.mapping !== options.mapping) requireSeesPlates(ctx);
    await requireMapping(ctx.app, format, changes.options, id);
  }
  return changeConnection(ctx, async (tx) => {
    const before = await lockConnection(tx, id);
    if (expectedUpdatedAt !== undefined) {
      refuseIfNewer(before, resolveTime(expectedUpdatedAt, ctx.app.settings.current().timezone));
    }
    const options = changes.options ?? before.options;
    if (changes.options) await requireOptions(tx, options, before.options);
    const timeZone = changes.timeZone === undefined ? before.timeZone : changes.timeZone;
    await updateConnectionRow(tx, before.id, { timeZone, options });
    const details = { connectionId: before.id, sensorId: before.sensorId, fields: givenFields(changes) };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'connections.update', details);
    return connectionView(ctx.app, await getConnection(tx, before.id));
  });
}

/**
 * Requires that nobody has changed the connection since the caller saw it.
 * @param seenAt `updatedAt` of the connection as the caller saw it, in Unix milliseconds
 * @throws AppError `conflict`
 */
function refuseIfNewer({ updatedAt }: LockedConnection, seenAt: number): void {
  if (updatedAt <= seenAt) return;
  throw new AppError(
    'conflict',
    `Somebody changed this connection at ${new Date(updatedAt).toISOString()}: reload it before you change it`,
  );
}

/** Replaces the secrets of a connection; the previous ones are refused from now on. @throws AppError `notFound` */
export async function rotateSecrets(ctx: ConnectionContext, id: string): Promise<CreatedConnection> {
  return changeConnection(ctx, async (tx) => {
    const { id: connectionId, sensorId, format, username } = await lockConnection(tx, id);
    const secrets = newSecrets(username);
    await replaceSecrets(tx, connectionId, storedSecrets(secrets, signs(format)));
    const details = { connectionId, sensorId, format };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'connections.rotate', details);
    const seen = connectionView(ctx.app, await getConnection(tx, connectionId));
    return { ...seen, ...showOnce(ctx, format, secrets) };
  });
}

/** Deletes a connection and its messages. Events that were made of them stay. @throws AppError `notFound` */
export async function deleteConnection(
  ctx: ConnectionContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return changeConnection(ctx, async (tx) => {
    const { id: connectionId, sensorId, format } = await lockConnection(tx, id);
    await markDeleted(tx, connectionId);
    const details = { connectionId, sensorId, format };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'connections.delete', details);
    return { success: true as const, id: connectionId };
  });
}

/**
 * Processes messages again, after the connection or the service was changed. Events that exist are not stored twice.
 * @throws AppError `notFound`
 */
export function replay({ app, actor, caller }: ConnectionContext, input: ReplayInput): Promise<ReplayOutput> {
  return inTransaction(app.db, async (tx) => {
    const wanted: Replayed =
      'messageId' in input ? { id: input.messageId } : { status: input.status, before: input.before };
    if (wanted.before !== undefined && !isUuid(wanted.before)) throw notFound('Message');
    const ofMessage = 'messageId' in input ? await connectionOfMessage(tx, input.messageId) : null;
    const { id } = await getConnection(tx, ofMessage ?? ('connectionId' in input ? input.connectionId : ''));
    const { count, oldestId } = await replayMessages(tx, id, wanted);
    await recordActivity(tx, actor.id, caller, 'connections.replay', { connectionId: id, ...wanted, count });
    return { success: true as const, count, oldestMessageId: oldestId };
  });
}

function signs(format: FormatName): boolean {
  return formatNamed(format).authentication.includes('hmac');
}

function showOnce(ctx: ConnectionContext, format: FormatName, secrets: Secrets, origin?: string) {
  const { app, caller } = ctx;
  const usual = app.config.GATEWAY_URL ?? `http://${caller.host ?? 'localhost'}`;
  const url = addressFor(format, secrets.token, origin ?? usual);
  const values = { ...secrets, url };
  return { ...values, instructions: [...formatNamed(format).instructions(values)] };
}

/** Stands for secrets, which are stored as hashes. */
const HIDDEN = '********';

/** The steps for the device of a connection, without its secrets. @throws AppError `notFound` */
export async function getInstructions(
  ctx: ConnectionContext,
  { id, origin }: InstructionsInput,
): Promise<ConnectionSteps> {
  const { format, username } = await getConnection(ctx.app.db, id);
  const hidden = { username, password: HIDDEN, token: HIDDEN };
  const { url, instructions } = showOnce(ctx, format, hidden, origin);
  return { url, username, instructions };
}

function requireTimeZone(zone: string | null | undefined): void {
  if (zone && !IANAZone.isValidZone(zone)) {
    throw invalidInput('timeZone', `"${zone}" is not a time zone: use a name such as Europe/Berlin`);
  }
}

/**
 * Checks the sensors and topics that options name. Those that the previous options name are accepted.
 * @param before the previous options of the connection, which may name sensors that were deleted since
 * @throws AppError `badRequest` for options that name a sensor that does not exist, or topics that no broker accepts
 */
async function requireOptions(
  tx: Transaction,
  { sensors, topics = [] }: ConnectionOptions,
  before: ConnectionOptions,
): Promise<void> {
  for (const [at, topic] of topics.entries()) {
    if (isTopicFilter(topic) || before.topics?.includes(topic)) continue;
    throw invalidInput(
      `options.topics.${at}`,
      `"${topic}" is not an MQTT topic: + stands for one whole level, and # at the end for any number of levels`,
    );
  }
  const known = new Set(Object.values(before.sensors ?? {}));
  for (const [name, sensorId] of Object.entries(sensors ?? {})) {
    if (known.has(sensorId)) continue;
    await getSensor(tx, sensorId).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      throw invalidInput(`options.sensors.${name}`, `There is no sensor with the id ${sensorId}`);
    });
  }
}

/**
 * Compiles a mapping and tries it on the last message, if there is one, before it is saved.
 * @param id the id of the connection; null if it does not exist yet
 * @throws AppError `badRequest` when the format has no mappings, or when the mapping does not compile, fails, or exceeds
 * the limits of time and size
 */
async function requireMapping(
  app: ConnectionContext['app'],
  format: FormatName,
  { mapping, ...others }: ConnectionOptions,
  id: string | null,
): Promise<void> {
  if (mapping === undefined) return;
  if (format !== 'mapped') {
    throw invalidInput('options.mapping', 'Only connections of the format mapped have a mapping');
  }
  const refusal =
    (await app.mapper.check(mapping)) ??
    (id === null ? null : await refusalOfMapping(app, id, { ...others, mapping }));
  if (refusal !== null) throw invalidInput('options.mapping', `The mapping cannot be used: ${refusal}`);
}

/** Commits a change, and has all processes read the connections again; this process does so before it answers. */
async function changeConnection<Result>(
  { app }: ConnectionContext,
  change: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await inTransaction(app.db, async (tx) => {
    const changed = await change(tx);
    await notify(tx, channels.connections, '');
    return changed;
  });
  await app.connections.refresh();
  return result;
}

/** A connection as the API shows it. */
export function connectionView(
  { config }: Pick<Core, 'config'>,
  { deviceId, ...connection }: ListedConnection,
): Connection {
  return { ...connection, topicsWarning: topicsWarning(connection, deviceId, config) };
}
