import { once } from 'node:events';
import type { Server } from 'node:http';
import { Spool } from '@gantry/spool';
import { createClock } from './clock.ts';
import { Contact } from './contact.ts';
import { openSerial, readLines } from './inputs.ts';
import { Intake, MAX_LINE_SHOWN, pause } from './intake.ts';
import { listen } from './listen.ts';
import { claimFolder } from './lock.ts';
import { readProgress } from './progress.ts';
import { createRefusals } from './refused.ts';
import { createStamp } from './stamp.ts';
import { createConnectionTarget, createEventTarget } from './target.ts';
import { Uplink } from './uplink.ts';

export interface EdgeOptions {
  /** The address of Gantry with the API key of the sensor, or the address of a connection. */
  readonly to: { readonly url: string; readonly apiKey: string } | { readonly connection: string };
  readonly folder: string;
  /** Maximum size of the messages that have not been sent, in bytes. */
  readonly maxBytes: number;
  readonly stdin: boolean;
  readonly serial?: { readonly path: string; readonly baud: number };
  readonly listen?: { readonly host: string; readonly port: number };
  /** The longest silence of a device that works, in milliseconds; null if it is not known. */
  readonly maxSilenceMs: number | null;
  readonly log: (message: string) => void;
  /** Stops the buffer. Messages that have not been sent stay in the spool. */
  readonly signal: AbortSignal;
}

/** How long to wait for the last messages to be sent after standard input has ended, in milliseconds. */
const LAST_MESSAGES_MS = 10_000;

/** How long to wait before a serial line that failed is opened again, in milliseconds. */
const REOPEN_MS = 2_000;

/** Runs the buffer until the signal is aborted, or standard input ends and it is the only input. */
export async function runEdge(options: EdgeOptions): Promise<void> {
  const { folder, log, to } = options;
  await using _lock = await claimFolder(folder);
  await using spool = await Spool.open(folder, options.maxBytes, (position) =>
    log(`a damaged or incomplete message at ${position} in ${folder} was left out`),
  );
  const progress = await readProgress(folder, spool.start, spool.end);
  await spool.removeBefore(progress.sentBefore);
  const refusals = createRefusals(folder, log);
  const clock = createClock();
  const contact = new Contact(options.maxSilenceMs);
  const stamp = createStamp(clock, contact);

  const ending = new AbortController();
  const stop = (): void => ending.abort();
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();

  const intake = new Intake(spool, refusals, stamp, contact, 'connection' in to, log, ending.signal);
  const uplink = new Uplink({
    spool,
    progress,
    target: 'connection' in to ? createConnectionTarget(to.connection) : createEventTarget(to.url, to.apiKey),
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
    server = await listen({ ...options.listen, status, log, accept: (body) => intake.acceptBody(body) });
    log(`listens on http://${options.listen.host}:${(server.address() as { port: number }).port}`);
  }
  const serial = options.serial ? followSerial(options.serial, intake, contact, log, ending.signal) : null;

  if (options.stdin) {
    const reading = readLines(process.stdin, MAX_LINE_SHOWN, (line) => intake.acceptLine(line, 'stdin'));
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
  intake: Intake,
  contact: Contact,
  log: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { input, isSerial } = await openSerial(path, baud);
      const close = (): void => void input.destroy();
      signal.addEventListener('abort', close, { once: true });
      const accept = (line: string): Promise<void> => intake.acceptLine(line, 'serial');
      await readLines(input, MAX_LINE_SHOWN, accept, isSerial).finally(() =>
        signal.removeEventListener('abort', close),
      );
    } catch (error) {
      if (!signal.aborted)
        log(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
    contact.break();
    await pause(REOPEN_MS, signal);
  }
}
