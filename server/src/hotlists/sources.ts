import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
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
import {
  type ImportFiles,
  MAX_SIGNATURE_BYTES,
  type ReceivedFile,
  signatureIn,
  tooLarge,
} from './import-files.ts';
import { confirmList, findLastOfSource, type ImportRow, insertImport } from './imports-store.ts';
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
const NOT_A_LIST = /^\.|\.(sha256|sig|part|tmp|filepart)$/i;

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
  const signature = source.publicKey === undefined ? null : await readSignature(`${path}.sig`);
  for (const done of [taken, `${path}.sha256`, `${path}.sig`]) await rm(done, { force: true });
  if (isIntact) {
    await addImport(parts.db, {
      hotlistId,
      file,
      origin: 'FOLDER',
      fileName: oldest.name,
      fileAt: oldest.at,
      mode: source.mode,
      signature,
    });
    return { problem: null };
  }
  await parts.files.remove({ hotlistId, id: file.id });
  return {
    problem: `${oldest.name} does not have the checksum in ${oldest.name}.sha256: put all of them there again`,
  };
}

/** The signature in a file, as `signatureIn`; null if there is no such file. */
async function readSignature(path: string): Promise<string | null> {
  const { size } = (await ignoreErrno(stat(path), 'ENOENT')) ?? {};
  if (size === undefined) return null;
  return size > MAX_SIGNATURE_BYTES ? '' : signatureIn(await readFile(path));
}

async function matchesChecksum(path: string, { sha256 }: ReceivedFile): Promise<boolean> {
  const text = await ignoreErrno(readFile(path, 'utf8'), 'ENOENT');
  return text === undefined || text.trim().toLowerCase().startsWith(sha256);
}

/** Requests the file, unless it is the one that was received last. */
async function readUrl(parts: SourceParts, due: DueSource, address: string): Promise<State> {
  const { db, rules, timings } = parts;
  const url = rules.parse(address);
  const signal = AbortSignal.timeout(timings.hotlistUrlMs);
  const known = due.state?.etag ?? null;
  // What another source had does not matter.
  const last = due.state && (await findLastOfSource(db, due.id));
  // A file that was refused may have another signature by now.
  const etag = last?.state === 'REFUSED' && due.source.publicKey !== undefined ? null : known;
  const headers = {
    accept: 'text/csv, text/plain, */*',
    ...(etag !== null && { 'if-none-match': etag }),
  };
  try {
    return await withAnswer(rules, url, { headers, signal }, async (response) => {
      const { statusCode = 0 } = response;
      if (statusCode === 304) {
        if (last?.state === 'APPLIED' || last?.state === 'UNCHANGED') await confirmList(db, due.id);
        return { etag, problem: null };
      }
      if (statusCode !== 200)
        return { etag: known, problem: `${url.host} answered with ${statusOf(statusCode)}` };
      return takeAnswer(parts, { due, url, last, signal }, response);
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    const seconds = timings.hotlistUrlMs / 1_000;
    return { etag: known, problem: `${url.host} did not send the file within ${seconds} s` };
  }
}

interface Asked {
  readonly due: DueSource;
  readonly url: URL;
  readonly last: ImportRow | null;
  readonly signal: AbortSignal;
}

/** Has the file of an answer imported, with its signature if the list has a key, unless it was refused as it is. */
async function takeAnswer(
  { db, files, rules }: SourceParts,
  { due, url, last, signal }: Asked,
  response: IncomingMessage,
): Promise<State> {
  const { id: hotlistId, source } = due;
  const { headers } = response;
  if (Number(headers['content-length'] ?? 0) > MAX_HOTLIST_FILE_BYTES) throw tooLarge();
  const file = await files.receive(hotlistId, response);
  const discard = () => files.remove({ hotlistId, id: file.id });
  const signature = await findSignature(rules, { due, url, signal }).catch(async (error: unknown) => {
    await discard();
    throw error;
  });
  if (last?.state === 'REFUSED' && last.sha256 === file.sha256 && last.signature === signature)
    await discard();
  else {
    const at = Date.parse(headers['last-modified'] ?? '');
    const fileName = url.pathname.split('/').at(-1)?.slice(0, 200) || url.host;
    const fileAt = Number.isNaN(at) ? null : at;
    await addImport(db, { hotlistId, file, origin: 'URL', fileName, fileAt, mode: source.mode, signature });
  }
  return { etag: headers.etag?.slice(0, 200) ?? null, problem: null };
}

/** The signature beside a file, as `signatureIn`; null if there is none, or no key. @throws Error when that cannot be known */
async function findSignature(
  rules: AddressRules,
  { due, url: of, signal }: Omit<Asked, 'last'>,
): Promise<string | null> {
  if (due.source.publicKey === undefined) return null;
  const url = new URL(of);
  url.pathname += '.sig';
  return withAnswer(rules, url, { signal }, async (response) => {
    const { statusCode = 0 } = response;
    if (statusCode === 404 || statusCode === 410) return null;
    if (statusCode !== 200)
      throw new Error(`${url.host} answered with ${statusOf(statusCode)} for the signature`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_SIGNATURE_BYTES) return '';
      chunks.push(chunk);
    }
    return signatureIn(Buffer.concat(chunks));
  });
}

/** Sends a GET request, and closes its connection after use. */
async function withAnswer<Result>(
  rules: AddressRules,
  url: URL,
  { headers, signal }: { readonly headers?: OutgoingHttpHeaders; readonly signal: AbortSignal },
  use: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const request = https.request(url, {
    headers: { 'user-agent': `Gantry/${version}`, ...headers },
    agent: false,
    signal,
    lookup: lookupOf(rules, url),
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end();
    });
    request.on('error', () => undefined);
    return await use(response);
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
  readonly signature: string | null;
}

async function addImport(db: Database, { file, ...more }: SourceFile): Promise<void> {
  await insertImport(db, { ...file, ...more, state: 'STAGING', template: null, revertsTo: null, by: null });
  await notify(db, channels.hotlistJobs, '');
}
