import { once } from 'node:events';
import type { Server } from 'node:http';
import { Spool, SpoolFull } from '@gantry/spool';
import { createClock } from './clock.ts';
import { openSerial, readLines } from './inputs.ts';
import { listen } from './listen.ts';
import { claimFolder } from './lock.ts';
import { readProgress } from './progress.ts';
import { createRefusals } from './refused.ts';
import { createStamp, InvalidMessage, type Kept } from './stamp.ts';
import { createConnectionTarget, createEventTarget } from './target.ts';
import { startUplink } from './uplink.ts';

export interface EdgeOptions {
  /** The address of Gantry with the API key of the sensor, or the address of a connection. */
  readonly to: { readonly url: string; readonly apiKey: string } | { readonly connection: string };
  readonly folder: string;
  /** Maximum size of the messages that have not been sent, in bytes. */
  readonly maxBytes: number;
  readonly stdin: boolean;
  readonly serial?: { readonly path: string; readonly baud: number };
  readonly listen?: { readonly host: string; readonly port: number };
  readonly log: (message: string) => void;
  /** Stops the buffer. Messages that have not been sent stay in the spool. */
  readonly signal: AbortSignal;
}

/** Maximum length of a line, in characters. Longer lines are refused. */
const MAX_LINE = 1_000_000;

/**
 * Number of characters of a line that are read. The rest is skipped, so that a device that sends no line breaks does not
 * fill the memory. A refused line is kept up to this length.
 */
const MAX_LINE_SHOWN = 8_000_000;

/** How long to wait for the last messages to be sent after standard input has ended, in milliseconds. */
const LAST_MESSAGES_MS = 10_000;

/** How long to wait before a message that could not be stored is tried again, in milliseconds. */
const FULL_MS = 1_000;

/** How long to wait before a serial line that failed is opened again, in milliseconds. */
const REOPEN_MS = 2_000;

/** Runs the buffer until the signal is aborted, or standard input ends and it is the only input. */
export async function runEdge(options: EdgeOptions): Promise<void> {
  const { folder, log } = options;
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();

  await using _lock = await claimFolder(folder);
  await using spool = await Spool.open(folder, options.maxBytes, (position) =>
    log(`a damaged message at ${position} in ${folder} was left out`),
  );
  const progress = await readProgress(folder, spool.start, spool.end);
  await spool.removeBefore(progress.sentBefore);
  const refusals = createRefusals(folder, log);
  const isConnection = 'connection' in options.to;
  const target =
    'connection' in options.to
      ? createConnectionTarget(options.to.connection)
      : createEventTarget(options.to.url, options.to.apiKey);
  const clock = createClock();
  const stamp = createStamp(clock);

  const keptOf = (line: string): Kept => (isConnection ? stamp.line(line) : stamp.event(parse(line)));
  const append = (kept: readonly Kept[]): Promise<void> =>
    spool.append(kept.map((each) => JSON.stringify(each)));

  /**
   * Stores a line of an input that can wait. A line that is too long or not an event is kept with the refused messages. If
   * storing fails, as on a full disk, it is tried again until it succeeds or the buffer is stopped.
   */
  const accept = async (line: string): Promise<void> => {
    let store: () => Promise<void>;
    try {
      if (line.length > MAX_LINE)
        throw new InvalidMessage(`The line of ${lengthOf(line)} characters is longer than ${MAX_LINE}`);
      const kept = keptOf(line);
      store = () => append([kept]);
    } catch (error) {
      if (!(error instanceof InvalidMessage)) throw error;
      const refused = { kept: stamp.line(line), reason: error.message };
      store = () => refusals.keep([refused]);
    }
    for (let isFirst = true; !ending.signal.aborted; isFirst = false) {
      try {
        await store();
        return;
      } catch (error) {
        if (isFirst)
          log(
            `${error instanceof SpoolFull ? error.message : `a message could not be stored (${String(error)})`}; input waits`,
          );
        await pause(FULL_MS, ending.signal);
      }
    }
  };

  const uplink = startUplink({
    spool,
    progress,
    target,
    clock,
    corrected: stamp.corrected,
    refuse: refusals.keep,
    log,
    signal: ending.signal,
  });
  const status = () => ({
    link: uplink.isUp === null ? 'unknown' : uplink.isUp ? 'up' : 'down',
    waitingBytes: spool.end - progress.sentBefore,
    maxBytes: options.maxBytes,
    refused: refusals.count,
  });

  let server: Server | null = null;
  if (options.listen) {
    server = await listen({
      ...options.listen,
      status,
      log,
      accept: async (body) => {
        const kept = messagesIn(body).map((each) =>
          isConnection ? stamp.line(JSON.stringify(each)) : stamp.event(each),
        );
        await append(kept);
        return kept.length;
      },
    });
    log(`listens on http://${options.listen.host}:${(server.address() as { port: number }).port}`);
  }
  const serial = options.serial ? followSerial(options.serial, accept, log, ending.signal) : null;

  if (options.stdin) {
    const reading = readLines(process.stdin, MAX_LINE_SHOWN, accept);
    await Promise.race([reading, once(ending.signal, 'abort')]);
    if (!ending.signal.aborted && !options.listen && !options.serial) {
      await uplink.drained(LAST_MESSAGES_MS);
      stop();
    }
  }
  if (!ending.signal.aborted) await once(ending.signal, 'abort');
  server?.close();
  server?.closeAllConnections();
  process.stdin.destroy();
  await Promise.all([uplink.ended, serial]);
  const waiting = spool.end - progress.sentBefore;
  if (waiting > 0)
    log(`ends with ${waiting} bytes of messages that are not sent; they are sent after the next start`);
}

/** Reads a serial line until the signal is aborted, and opens it again when it fails or is unplugged. */
async function followSerial(
  { path, baud }: { readonly path: string; readonly baud: number },
  accept: (line: string) => Promise<void>,
  log: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { input, isSerial } = await openSerial(path, baud);
      const close = (): void => void input.destroy();
      signal.addEventListener('abort', close, { once: true });
      await readLines(input, MAX_LINE_SHOWN, accept, isSerial).finally(() =>
        signal.removeEventListener('abort', close),
      );
    } catch (error) {
      if (!signal.aborted)
        log(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
    await pause(REOPEN_MS, signal);
  }
}

/** The events in a body: one, an array of them, or JSON lines. @throws InvalidMessage when it is not JSON */
function messagesIn(body: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : [value];
  } catch {
    return body
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map(parse);
  }
}

function lengthOf(line: string): string {
  return line.length < MAX_LINE_SHOWN ? String(line.length) : `${MAX_LINE_SHOWN} or more`;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new InvalidMessage('This is not JSON');
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
