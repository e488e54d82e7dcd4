import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { MAX_HOTLIST_FILE_BYTES } from '@gantry/contract/hotlists';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Logger } from 'pino';
import { channels, notify } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { safeText } from '../platform/describe-error.ts';
import { version } from '../platform/installation.ts';
import { type AddressRules, lookupOf } from '../platform/outbound.ts';
import type { Timings } from '../platform/timings.ts';
import { type ImportFiles, type ReceivedFile, tooLarge } from './import-files.ts';
import { confirmList, insertImport } from './imports-store.ts';
import { claimSources, type DueSource, hasSourceImports, noteSource } from './sources-store.ts';

export interface SourceParts {
  readonly db: Database;
  readonly log: Logger;
  readonly files: ImportFiles;
  readonly rules: AddressRules;
  readonly timings: Pick<Timings, 'hotlistUrlMs'>;
}

/**
 * Looks into the sources of lists that are due. Each process looks into the folders on its own machine.
 * @returns whether any list has a source
 */
export async function readSources(parts: SourceParts, isOver: () => boolean): Promise<boolean> {
  const { db, log } = parts;
  const { due, any } = await claimSources(db);
  for (const source of due) {
    if (isOver()) break;
    if (await hasSourceImports(db, source.id)) continue;
    try {
      const state =
        source.source.type === 'URL'
          ? await readUrl(parts, source, source.source.url)
          : await readFolder(parts, source);
      await noteSource(db, source.id, state);
    } catch (err) {
      log.warn({ err, hotlistId: source.id }, 'the source of a hotlist could not be read');
      await noteSource(db, source.id, {
        etag: source.state?.etag ?? null,
        problem: safeText(err).slice(0, 500),
      });
    }
  }
  return any;
}

type State = NonNullable<DueSource['state']>;

/** Names of files that are not complete, or that go with others. */
const NOT_A_LIST = /^\.|\.(sha256|part|tmp|filepart)$/i;

/** Takes the oldest file of the inbox. A file is complete when it has its name. */
async function readFolder(parts: SourceParts, { id: hotlistId, source }: DueSource): Promise<State> {
  const inbox = parts.files.inboxOf(hotlistId);
  await mkdir(inbox, { recursive: true });
  const names = (await readdir(inbox)).filter((name) => !NOT_A_LIST.test(name));
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await ignoreErrno(stat(join(inbox, name)), 'ENOENT'))?.mtimeMs ?? 0,
    })),
  );
  const [oldest] = found.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1));
  if (!oldest) return { problem: null };
  const path = join(inbox, oldest.name);
  // Another process of this machine that looks at the same time finds it gone.
  const taken = `${path}.part`;
  const moved = await ignoreErrno(
    rename(path, taken).then(() => true),
    'ENOENT',
  );
  if (!moved) return { problem: null };
  const file = await parts.files.receive(hotlistId, createReadStream(taken));
  const isIntact = await matchesChecksum(`${path}.sha256`, file);
  await rm(taken, { force: true });
  await rm(`${path}.sha256`, { force: true });
  if (isIntact) {
    await addImport(parts.db, {
      hotlistId,
      file,
      origin: 'FOLDER',
      fileName: oldest.name,
      fileAt: oldest.at,
      mode: source.mode,
    });
    return { problem: null };
  }
  await parts.files.remove({ hotlistId, id: file.id });
  return {
    problem: `${oldest.name} does not have the checksum in ${oldest.name}.sha256: put both there again`,
  };
}

async function matchesChecksum(path: string, { sha256 }: ReceivedFile): Promise<boolean> {
  const text = await ignoreErrno(readFile(path, 'utf8'), 'ENOENT');
  return text === undefined || text.trim().toLowerCase().startsWith(sha256);
}

/** Requests the file, unless it is the one that was received last. */
async function readUrl(
  { db, files, rules, timings: { hotlistUrlMs } }: SourceParts,
  due: DueSource,
  address: string,
): Promise<State> {
  const url = rules.parse(address);
  const signal = AbortSignal.timeout(hotlistUrlMs);
  const etag = due.state?.etag ?? null;
  const request = https.request(url, {
    headers: {
      'user-agent': `Gantry/${version}`,
      accept: 'text/csv, text/plain, */*',
      ...(etag !== null && { 'if-none-match': etag }),
    },
    agent: false,
    signal,
    lookup: lookupOf(rules, url),
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end();
    });
    request.on('error', () => undefined);
    const { statusCode = 0, headers } = response;
    if (statusCode === 304) {
      await confirmList(db, due.id);
      return { etag, problem: null };
    }
    if (statusCode !== 200) return { etag, problem: `${url.host} answered with ${statusOf(statusCode)}` };
    if (Number(headers['content-length'] ?? 0) > MAX_HOTLIST_FILE_BYTES) throw tooLarge();
    const file = await files.receive(due.id, response);
    const at = Date.parse(headers['last-modified'] ?? '');
    const fileName = url.pathname.split('/').at(-1)?.slice(0, 200) || url.host;
    const fileAt = Number.isNaN(at) ? null : at;
    await addImport(db, { hotlistId: due.id, file, origin: 'URL', fileName, fileAt, mode: due.source.mode });
    return { etag: headers.etag?.slice(0, 200) ?? null, problem: null };
  } catch (error) {
    if (signal.aborted)
      return { etag, problem: `${url.host} did not send the file within ${hotlistUrlMs / 1_000} s` };
    throw error;
  } finally {
    request.destroy();
  }
}

function statusOf(status: number): string {
  return status >= 300 && status < 400
    ? `a redirect (${status}), which is not followed: enter the address to which it leads`
    : `status ${status}`;
}

interface SourceFile {
  readonly hotlistId: string;
  readonly file: ReceivedFile;
  readonly origin: 'FOLDER' | 'URL';
  readonly fileName: string;
  readonly fileAt: number | null;
  readonly mode: 'COMPLETE' | 'ADD' | 'REMOVE';
}

async function addImport(db: Database, { file, ...more }: SourceFile): Promise<void> {
  await insertImport(db, { ...file, ...more, state: 'STAGING', template: null, revertsTo: null, by: null });
  await notify(db, channels.hotlistJobs, '');
}
