import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HOUR_MS } from '@gantry/contract/durations';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import type { Logger } from 'pino';
import { ignoreErrno } from '../platform/errno.ts';
import { AppError } from '../platform/error.ts';
import { machineTime } from '../platform/machine-time.ts';
import { ASIDE_SUFFIX, MESSAGE_SUFFIX, TIME_DIGITS } from '../platform/spool-folder.ts';
import type { Incoming } from './incoming.ts';

/**
 * Messages on disk, for devices that do not send again. Each is a file whose name begins with the time of its receipt,
 * so that all processes of the service store them in the same order. A message keeps its id, so that it is stored
 * once even if two processes read its file.
 */
export interface Spool {
  /** Puts a message on disk; it is durable when this resolves. @returns false when it is lost, which is logged */
  put(id: string, incoming: Incoming): Promise<boolean>;
  /**
   * Stores all messages, the oldest first, until one cannot be stored now.
   * @param isOver whether to finish
   */
  play(store: (id: string, incoming: Incoming) => Promise<unknown>, isOver: () => boolean): Promise<void>;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Maximum size of all files, in bytes. */
  readonly mostBytes: number;
  readonly log: Logger;
  /** Called with the number of messages on disk whenever they were counted. */
  readonly report: (messages: number) => void;
}

const DIGEST_LENGTH = 64;

/** How the name of a message that is being written ends. */
const PART_SUFFIX = '.part';

/** A file that is not complete after this time, in milliseconds, was left by a process that was killed. */
const LEFT_AFTER_MS = HOUR_MS;

/** How long a count of the files is used, in milliseconds. */
const COUNT_MS = 5_000;

type Header = Omit<Incoming, 'body'> & { readonly id: string };

export function createSpool({ folder, mostBytes, log, report }: SpoolOptions): Spool {
  let bytes = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let lost = 0;
  /** Files are written one after another, so that their total size does not exceed the maximum. */
  let writing: Promise<unknown> = Promise.resolve();

  const names = async (): Promise<string[]> =>
    ((await ignoreErrno(readdir(folder), 'ENOENT')) ?? [])
      .filter((name) => name.endsWith(MESSAGE_SUFFIX))
      .sort();

  const count = async (): Promise<void> => {
    if (performance.now() - countedAt < COUNT_MS) return;
    bytes = 0;
    for (const name of (await ignoreErrno(readdir(folder), 'ENOENT')) ?? []) {
      const path = join(folder, name);
      const file = await ignoreErrno(stat(path), 'ENOENT');
      if (!file) continue;
      const isLeft = name.endsWith(PART_SUFFIX) && file.mtimeMs < machineTime() - LEFT_AFTER_MS;
      if (isLeft) await rm(path, { force: true });
      else bytes += file.size;
    }
    countedAt = performance.now();
  };

  const write = async (id: string, { body, ...rest }: Incoming): Promise<boolean> => {
    await count();
    if (bytes + body.length > mostBytes) {
      if (lost++ % 100 === 0) log.error({ lost, folder }, 'messages of devices are lost: the spool is full');
      return false;
    }
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first !== undefined) await syncFolder(join(folder, '..'));
    const header: Header = {
      ...rest,
      connection: { id: rest.connection.id, format: rest.connection.format },
      id,
    };
    const content = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
    const name = `${String(rest.receivedAt).padStart(TIME_DIGITS, '0')}-${id}`;
    const part = join(folder, `${name}${PART_SUFFIX}`);
    const file = await open(part, 'wx', 0o600);
    try {
      await file.write(digestOf(content), null, 'latin1');
      await file.writeFile(content);
      await file.sync();
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await rename(part, join(folder, `${name}${MESSAGE_SUFFIX}`));
    await syncFolder(folder);
    bytes += content.length + DIGEST_LENGTH;
    return true;
  };

  const read = async (path: string): Promise<{ id: string; incoming: Incoming } | 'damaged' | 'gone'> => {
    const file = await ignoreErrno(readFile(path), 'ENOENT');
    if (file === undefined) return 'gone';
    const content = file.subarray(DIGEST_LENGTH);
    if (file.toString('latin1', 0, DIGEST_LENGTH) !== digestOf(content)) return 'damaged';
    const end = content.indexOf('\n');
    const { id, ...rest } = JSON.parse(content.toString('utf8', 0, end)) as Header;
    return { id, incoming: { ...rest, body: content.subarray(end + 1) } };
  };

  const leaveAside = async (path: string): Promise<'aside'> => {
    await ignoreErrno(rename(path, `${path}${ASIDE_SUFFIX}`), 'ENOENT');
    return 'aside';
  };

  const playOne = async (
    path: string,
    store: (id: string, incoming: Incoming) => Promise<unknown>,
  ): Promise<'stored' | 'waits' | 'aside'> => {
    const found = await read(path);
    if (found === 'gone') return 'aside';
    if (found === 'damaged') {
      log.error({ path }, 'a message on disk is incomplete and is left aside');
      return leaveAside(path);
    }
    try {
      await store(found.id, found.incoming);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unavailable') return 'waits';
      log.error({ err: error, path }, 'a message on disk cannot be stored and is left aside');
      return leaveAside(path);
    }
    await rm(path, { force: true });
    return 'stored';
  };

  return {
    put(id, incoming) {
      const written = writing
        .then(() => write(id, incoming))
        .catch((err: unknown) => {
          log.error({ err, folder }, 'a message could not be put on disk');
          return false;
        });
      writing = written;
      return written;
    },

    async play(store, isOver) {
      const waiting = await names();
      report(waiting.length);
      let played = 0;
      for (const name of waiting) {
        // One after another, because the order counts for reports about one vehicle.
        const outcome = isOver() ? 'waits' : await playOne(join(folder, name), store);
        if (outcome === 'waits') break;
        if (outcome === 'stored') played++;
      }
      if (played === 0) return;
      countedAt = Number.NEGATIVE_INFINITY;
      await syncFolder(folder);
      log.info({ messages: played }, 'messages from disk were stored');
      report(waiting.length - played);
    },
  };
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
