import cluster from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { unavailable } from '../../platform/error.ts';
import type { Siblings } from '../../platform/metrics.ts';
import { BEAT_MS } from '../../platform/process/watchdog.ts';
import { type FromPrimary, type FromWorker, PendingRequests } from './messages.ts';
import type { Listening } from './worker-process.ts';

const METRICS_WAIT_MS = 5_000;

/** The parent process, as a worker sees it. If it ends, Node ends its workers at once. */
export interface Primary extends Siblings {
  /** Resolves when the primary asks this process to stop. */
  readonly askedToStop: Promise<string>;
  /**
   * Reports that this process is ready to listen.
   * @returns whether it may listen; false when it should stop instead
   */
  mayListen(): Promise<boolean>;
  tellListening(listening: Listening): void;
  /** Lets this process end, which the connection to the primary prevents. */
  leave(): void;
}

/**
 * Connects to the primary.
 * @param number of this worker, as assigned by the primary; undefined if this process is not a worker
 */
export function joinPrimary(number: string | undefined): Primary | null {
  if (number === undefined || !cluster.isWorker) return null;
  const send = (message: FromWorker): void => {
    // If the primary is gone, sending fails; without a callback that would be an unhandled error.
    process.send?.(message, undefined, undefined, () => undefined);
  };
  const requests = new PendingRequests();
  let readMetrics = async (): Promise<string> => '';

  const messages = new EventEmitter<{ listen: []; stop: [] }>();
  const askedToStop = once(messages, 'stop').then(() => 'the primary stops');
  const allowedToListen = once(messages, 'listen');

  process.on('message', (message: FromPrimary) => {
    switch (message.type) {
      case 'listen':
      case 'stop':
        messages.emit(message.type);
        break;
      case 'allMetrics':
        requests.answer(message.request, message.text);
        break;
      case 'getMetrics': {
        const { request } = message;
        void readMetrics().then((text) => send({ type: 'metrics', request, text }));
      }
    }
  });

  setInterval(() => send({ type: 'beat' }), BEAT_MS).unref();

  return {
    number: Number(number),
    askedToStop,
    mayListen() {
      send({ type: 'prepared' });
      return Promise.race([allowedToListen.then(() => true), askedToStop.then(() => false)]);
    },
    tellListening: (listening) => send({ type: 'listening', ...listening }),
    leave() {
      if (process.connected) process.disconnect();
    },
    shareMetrics(read) {
      readMetrics = read;
    },
    async gatherMetrics() {
      const all = await requests.ask(METRICS_WAIT_MS, (request) => send({ type: 'getAllMetrics', request }));
      if (all === null)
        throw unavailable('The metrics could not be collected in time: try again in a moment');
      return all;
    },
  };
}
