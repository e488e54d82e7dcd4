import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HOUR_MS } from '@gantry/contract/durations';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { PART_SUFFIX, readSegment, type Segment, syncFolder, writeSegment } from '@gantry/spool/segment';
import type { Logger } from 'pino';
import { AppError } from '../platform/error.ts';
import { Groups } from '../platform/groups.ts';
import { machineTime } from '../platform/machine-time.ts';
import {
  ASIDE_SUFFIX,
  countMessages,
  isFormer,
  listWaiting,
  receivedAtOf,
  segmentName,
} from '../platform/spool-folder.ts';
import type { Incoming } from './incoming.ts';

export interface SpoolOptions {
  readonly folder: string;
  /** Maximum size of all files, in bytes. */
  readonly maxBytes: number;
  readonly log: Logger;
  /** Called with the number of messages on disk whenever they were counted. */
  readonly report: (messages: number) => void;
}

/** Stores a message in the database. @throws AppError `unavailable` when it has to wait */
export type StoreMessage = (id: string, incoming: Incoming) => Promise<unknown>;

/** A file that is not complete after this time, in milliseconds, was left by a process that was killed. */
const LEFT_AFTER_MS = HOUR_MS;

/** How long a count of the files is used, in milliseconds. */
const COUNT_MS = 5_000;

type Header = Omit<Incoming, 'body'> & { readonly id: string };

/** A message that waits to be written. */
interface Arriving {
  readonly id: string;
  readonly incoming: Incoming;
}

/** A message that was read. */
interface Waiting {
  readonly id: string;
  readonly incoming: Incoming;
  readonly record: Buffer;
  /** The file that it is in, with the number of its messages that are not stored yet. */
  readonly file: { readonly path: string; left: number };
}

/**
 * Messages on disk, for devices that do not send again. Those that arrive at the same time are written together as a
 * segment, which never changes, so that several processes of the service can share the folder. Names begin with the time of
 * receipt, so that all of them store the messages in the same order. A message keeps its id, so that it is stored once even
 * if two processes read it.
 */
export class MessageSpool {
  readonly #options: SpoolOptions;
  #bytes = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #lost = 0;
  /** Segments are written one after another, so that their total size does not exceed the maximum. */
  readonly #segments = new Groups<Arriving, boolean>({
    write: (group) => this.#tryToWrite(group),
    mayBeOne: () => false,
    sizeOf: ({ incoming }) => incoming.body.length,
  });

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Puts a message on disk; it is durable when this resolves. @returns false when it is lost, which is logged */
  put(id: string, incoming: Incoming): Promise<boolean> {
    return this.#segments.add({ id, incoming });
  }

  /**
   * Stores all messages, the oldest first, until one cannot be stored now.
   * @param isOver whether to finish
   * @returns whether there were any
   */
  async play(store: StoreMessage, isOver: () => boolean): Promise<boolean> {
    const { folder, log, report } = this.#options;
    const names = await listWaiting(folder);
    const messages = countMessages(names);
    report(messages);
    let played = 0;
    // One after another, because the order counts for reports about one vehicle.
    for await (const message of this.#inOrder(names)) {
      const outcome = isOver() ? 'waits' : await this.#playOne(message, store);
      if (outcome === 'waits') break;
      if (outcome === 'stored') played++;
    }
    if (played === 0) return messages > 0;
    this.#countedAt = Number.NEGATIVE_INFINITY;
    await syncFolder(folder);
    log.info({ messages: played }, 'messages from disk were stored');
    report(messages - played);
    return true;
  }

  /** Writes a group. @returns for each message whether it is on disk */
  async #tryToWrite(group: readonly Arriving[]): Promise<boolean[]> {
    const { folder, log } = this.#options;
    const written = await this.#write(group).catch((err: unknown): readonly Arriving[] => {
      log.error({ err, folder }, 'messages could not be put on disk');
      return [];
    });
    return group.map((each) => written.includes(each));
  }

  /** Writes those messages of a group for which there is space. @returns them */
  async #write(group: readonly Arriving[]): Promise<readonly Arriving[]> {
    const { folder, maxBytes, log } = this.#options;
    await this.#count();
    let bytes = this.#bytes;
    const fitting = group.filter(({ incoming: { body } }) => {
      if (bytes + body.length <= maxBytes) {
        bytes += body.length;
        return true;
      }
      if (this.#lost++ % 100 === 0)
        log.error({ lost: this.#lost, folder }, 'messages of devices are lost: the spool is full');
      return false;
    });
    if (fitting.length === 0) return [];
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first !== undefined) await syncFolder(join(folder, '..'));
    const sorted = fitting.toSorted((a, b) => a.incoming.receivedAt - b.incoming.receivedAt);
    const name = segmentName(sorted[0]?.incoming.receivedAt ?? 0, sorted.length);
    this.#bytes += await writeSegment(join(folder, name), sorted.map(recordOf));
    return fitting;
  }

  /** Counts the size of all files, and removes incomplete ones of killed processes. */
  async #count(): Promise<void> {
    if (performance.now() - this.#countedAt < COUNT_MS) return;
    const { folder } = this.#options;
    let bytes = 0;
    for (const name of (await ignoreErrno(readdir(folder), 'ENOENT')) ?? []) {
      const path = join(folder, name);
      const file = await ignoreErrno(stat(path), 'ENOENT');
      if (!file) continue;
      const isLeft = name.endsWith(PART_SUFFIX) && file.mtimeMs < machineTime() - LEFT_AFTER_MS;
      if (isLeft) await rm(path, { force: true });
      else bytes += file.size;
    }
    this.#bytes = bytes;
    this.#countedAt = performance.now();
  }

  /** The messages of files in the order of their receipt. Segments that several processes wrote at once overlap. */
  async *#inOrder(names: readonly string[]): AsyncGenerator<Waiting> {
    let read: Waiting[] = [];
    for (const name of names) {
      const isDue = ({ incoming }: Waiting) => incoming.receivedAt < receivedAtOf(name);
      yield* read.filter(isDue);
      read = [...read.filter((each) => !isDue(each)), ...(await this.#read(name))];
      read.sort((a, b) => a.incoming.receivedAt - b.incoming.receivedAt);
    }
    yield* read;
  }

  /** Reads the messages of a file; none if another process has stored them. Damaged ones are left aside. */
  async #read(name: string): Promise<Waiting[]> {
    const { folder, log } = this.#options;
    const path = join(folder, name);
    const found = await ignoreErrno(isFormer(name) ? readFormer(path) : readSegment(path), 'ENOENT');
    if (!found) return [];
    for (const [index, bytes] of found.damaged.entries()) {
      log.error({ path }, 'a message on disk is incomplete and is left aside');
      await leaveAside(`${path}-${index}`, bytes);
    }
    if (found.records.length === 0) await rm(path, { force: true });
    const file = { path, left: found.records.length };
    return found.records.map((record) => ({ ...parse(record), record, file }));
  }

  async #playOne(
    { id, incoming, record, file }: Waiting,
    store: StoreMessage,
  ): Promise<'stored' | 'waits' | 'aside'> {
    let outcome: 'stored' | 'aside' = 'stored';
    try {
      await store(id, incoming);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unavailable') return 'waits';
      const { path } = file;
      this.#options.log.error({ err: error, path }, 'a message on disk cannot be stored and is left aside');
      await leaveAside(`${path}-${id}`, record);
      outcome = 'aside';
    }
    file.left--;
    if (file.left === 0) await rm(file.path, { force: true });
    return outcome;
  }
}

/** The record of a message: a line of JSON, and the body. */
function recordOf({ id, incoming: { body, ...rest } }: Arriving): Buffer {
  const { id: connectionId, format } = rest.connection;
  const header: Header = { ...rest, connection: { id: connectionId, format }, id };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

function parse(record: Buffer): { id: string; incoming: Incoming } {
  const end = record.indexOf('\n');
  const { id, ...rest } = JSON.parse(record.toString('utf8', 0, end)) as Header;
  return { id, incoming: { ...rest, body: record.subarray(end + 1) } };
}

async function leaveAside(path: string, record: Buffer): Promise<void> {
  await writeSegment(`${path}${ASIDE_SUFFIX}`, [record]);
}

/** The number of characters of a checksum in the former format: SHA-256 in hexadecimal, before the record. */
const DIGEST_LENGTH = 64;

/** Reads a message that an earlier build of the service put on disk. */
async function readFormer(path: string): Promise<Segment> {
  const file = await readFile(path);
  const record = file.subarray(DIGEST_LENGTH);
  const digest = createHash('sha256').update(record).digest('hex');
  return file.toString('latin1', 0, DIGEST_LENGTH) === digest
    ? { records: [record], damaged: [] }
    : { records: [], damaged: [file] };
}
