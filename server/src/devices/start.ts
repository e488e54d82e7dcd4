import { EventEmitter } from 'node:events';
import { Mapper } from '@gantry/device-formats/mapper';
import { createBoundedCache } from '../platform/caches.ts';
import { isOutage } from '../platform/database/failure.ts';
import { channels } from '../platform/database/notify.ts';
import { mappingProgram } from '../platform/installation.ts';
import { type Rounds, startPeriodic } from '../platform/periodic.ts';
import { spoolFolderOf } from '../platform/spool-folder.ts';
import { type Foundation, keepFresh } from '../platform/start.ts';
import type { FrontEnd, RequestHandler } from '../rpc/exchange.ts';
import type { ConnectionServices, GatewayApp, MessageSignals } from './context.ts';
import { DigestNonces } from './digest.ts';
import { ConnectionDirectory } from './directory.ts';
import { createDeviceHandler } from './http-handler.ts';
import { ConnectionLimits, Guesses } from './limits.ts';
import { MissedMessages } from './missed-store.ts';
import { Processor } from './process.ts';
import { Receiver } from './receive.ts';
import { removeOldDeviceData } from './removal-store.ts';
import { MessageSpool } from './spool.ts';
import { removeExpiredNonces, useNonce } from './store.ts';

/** What receives messages of devices. */
export interface Gateways {
  readonly http: RequestHandler;
  /** For messages that do not arrive over HTTP. */
  readonly receiver: Receiver;
}

const NONCES_AT_ONCE = 10_000;
const NONCES_MS = 600_000;
const NONCES_IN_MEMORY = 10_000;

/**
 * Starts everything that receives, processes and removes messages of devices.
 * @param app the services of all modules
 * @param secret signs nonces; the same in all processes and after a restart
 * @param frontEnd shared with the rest of the service
 */
export function startGateways(
  { resources }: Pick<Foundation, 'resources'>,
  app: GatewayApp,
  secret: string,
  frontEnd: FrontEnd,
): Gateways {
  const { config, log, timings, clock, metrics, gateways: db } = app;

  const processor = resources.use(new Processor(app));
  const sweep = (
    everyMs: number,
    failure: string,
    work: (isOver: () => boolean) => Promise<boolean>,
  ): Rounds => resources.use(startPeriodic({ everyMs, restMs: 10 * everyMs, log, failure }, work));
  const messages = sweep(timings.sweepMessagesMs, 'messages of devices cannot be processed now', (isOver) =>
    processor.sweep(isOver),
  );
  app.messageSignals.on('due', messages.startNow);
  const passages = sweep(timings.sweepPassagesMs, 'observations of vehicles cannot be stored now', (isOver) =>
    processor.sweepPassages(isOver),
  );
  const onStored = (): void => {
    messages.rouse();
    passages.rouse();
  };
  const spool = new MessageSpool({
    folder: spoolFolderOf(config.DATA_DIR),
    maxBytes: config.GATEWAY_SPOOL_MB * 1_000_000,
    log,
    report: (messages) => metrics.spooledMessages.set(messages),
  });
  const missed = new MissedMessages(app);
  resources.onClose(() => missed.write().catch(() => undefined));
  resources.use(
    startPeriodic(
      { everyMs: timings.writeContactsMs, log, failure: 'counts of messages cannot be stored now' },
      () => missed.write(),
    ),
  );
  const onSpooled = (): void => playing.rouse();
  const receiver = resources.use(new Receiver({ app, processor, spool, missed, onStored, onSpooled }));
  const playing = sweep(timings.playSpoolMs, 'messages on disk cannot be stored now', (isOver) =>
    spool.play((id, incoming) => receiver.store(id, incoming), isOver),
  );
  playing.startNow();
  resources.use(
    startPeriodic(
      { everyMs: NONCES_MS, log, failure: 'old nonces cannot be removed now' },
      async (isOver) => {
        while (!isOver() && (await removeExpiredNonces(db, NONCES_AT_ONCE)) === NONCES_AT_ONCE);
      },
    ),
  );
  resources.use(
    startPeriodic(
      { everyMs: timings.removeDeviceDataMs, log, failure: 'old messages of devices cannot be removed now' },
      (isOver) => removeOldDeviceData(db, { now: clock.now(), days: config.DEVICE_MESSAGE_DAYS, isOver }),
    ),
  );
  const usedDuringOutage = createBoundedCache<string, number>(NONCES_IN_MEMORY, NONCES_MS);
  const nonces = new DigestNonces(secret, clock.now, (nonce, counter, expiresAt) =>
    useNonce(db, nonce, counter, expiresAt).catch((error: unknown) => {
      if (!isOutage(error)) throw error;
      // The message will be put on disk. If its nonce were refused, the message of a device with Digest would be lost.
      if ((usedDuringOutage.get(nonce) ?? 0) >= counter) return false;
      usedDuringOutage.set(nonce, counter);
      return true;
    }),
  );
  const http = createDeviceHandler({
    app,
    frontEnd,
    receiver,
    nonces,
    guesses: new Guesses(),
    limits: new ConnectionLimits(config.EVENT_RATE_FACTOR, app.knownSensors),
    missed,
  });
  return { http, receiver };
}

export async function startConnections(foundation: Foundation): Promise<ConnectionServices> {
  const connections = await ConnectionDirectory.load(foundation.core.devices);
  keepFresh(
    foundation,
    channels.connections,
    () => connections.refresh(),
    'the connections could not be reloaded',
  );
  const mapper = new Mapper(mappingProgram);
  foundation.resources.onClose(() => mapper[Symbol.dispose]());

  // Every open stream of messages adds a listener, so their number is not limited here.
  const messageSignals: MessageSignals = new EventEmitter({ captureRejections: false });
  messageSignals.setMaxListeners(0);
  foundation.listener.on(
    channels.messages,
    (connectionId) => {
      if (connectionId === '') messageSignals.emit('due');
      else messageSignals.emit('changed', connectionId);
    },
    () => {
      messageSignals.emit('due');
      messageSignals.emit('changed', null);
    },
  );
  return { connections, mapper, messageSignals };
}
