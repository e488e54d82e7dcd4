import { createReadStream, type Stats } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { MAX_HOTLIST_FILE_BYTES } from '@gantry/contract/hotlists';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import { channels, notify } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { safeText } from '../platform/describe-error.ts';
import { version } from '../platform/installation.ts';
import { type AddressRules, lookupOf, responseOf } from '../platform/outbound.ts';
import type { Timings } from '../platform/timings.ts';
import {
  type ImportFiles,
  MAX_SIGNATURE_BYTES,
  type ReceivedFile,
  signatureIn,
  tooLarge,
} from './import-files.ts';
import { confirmList, findLastOfSource, type ImportRow, insertImport } from './imports-store.ts';
import {
  claimSources,
  type DueSource,
  hasSourceImports,
  noteSource,
  releaseSource,
} from './sources-store.ts';

export interface SourceParts {
  readonly db: Database;
  readonly log: Logger;
  readonly files: ImportFiles;
  readonly rules: AddressRules;
  readonly timings: Pick<Timings, 'hotlistUrlMs'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Aborts when the process is about to end. */
  readonly ending: AbortSignal;
}

/** An address that answers slowly does not hold up the other lists. */
const ADDRESSES_AT_ONCE = 8;

/**
 * Looks into the sources of lists that are due. Each process looks into the folders on its own machine.
 * @returns whether any list has a source
 */
export async function readSources(parts: SourceParts): Promise<boolean> {
  const { due, any } = await claimSources(parts.db);
  const isAddress = ({ source }: DueSource): boolean => source.type === 'URL';
  const inTurn = async (sources: readonly DueSource[]): Promise<void> => {
    for (const source of sources) await readSource(parts, source);
  };
  const limit = pLimit(ADDRESSES_AT_ONCE);
  await Promise.all([
    inTurn(due.filter((each) => !isAddress(each))),
    ...due.filter(isAddress).map((each) => limit(() => inTurn([each]))),
  ]);
  return any;
}

async function readSource(parts: SourceParts, due: DueSource): Promise<void> {
  const { db, log, ending } = parts;
  if (ending.aborted) return releaseSource(db, due.id);
  if (await hasSourceImports(db, due.id)) return;
  try {
    const { source } = due;
    const state =
      source.type === 'URL' ? await readUrl(parts, due, source.url) : await readFolder(parts, due);
    await noteSource(db, due.id, state);
  } catch (err) {
    // The next process reads it, and not only after its interval.
    if (ending.aborted) return releaseSource(db, due.id);
    log.warn({ err, hotlistId: due.id }, 'the source of a hotlist could not be read');
    await noteSource(db, due.id, {
      etag: due.state?.etag ?? null,
      problem: safeText(err).slice(0, 500),
    });
  }
}

type State = NonNullable<DueSource['state']>;

/** Names of files that are not complete, or that go with others. */
const NOT_A_LIST = /^\.|\.(sha256|sig|part|tmp|filepart)$/i;

/** What is added to the name of a file while it is read, besides a dot before it. */
const TAKEN = '.taken';
/** Who took a file so long ago, in milliseconds, was ended before the file was imported. */
const LEFT_MS = 600_000;
/** Maximum length of a name, in bytes: file systems allow 255, with what is added. */
const MAX_NAME_BYTES = 240;

interface InboxFile {
  readonly name: string;
  /** When it was last changed, in Unix milliseconds. */
  readonly at: number;
}

/** Takes the oldest file of the inbox that can be read. A file is complete when it has its name. */
async function readFolder(parts: SourceParts, due: DueSource): Promise<State> {
  const inbox = parts.files.inboxOf(due.id);
  await mkdir(inbox, { recursive: true });
  let { files, problem } = await lookInto(inbox, parts.clock.now());
  for (const file of files) {
    try {
      const state = await takeFile(parts, due, inbox, file);
      return { ...state, problem: state.problem ?? problem };
    } catch (err) {
      // It stays there, and must not keep the others from being read.
      parts.log.warn({ err, hotlistId: due.id }, 'a file in the folder of a hotlist could not be read');
      problem ??= `${file.name} could not be read: ${safeText(err)}`.slice(0, 500);
    }
  }
  if (problem === null && due.state?.discarded === true) return due.state;
  return { problem };
}

/** The files of an inbox, the oldest first, and what keeps another one from being read. @param now Unix milliseconds */
async function lookInto(inbox: string, now: number): Promise<{ files: InboxFile[]; problem: string | null }> {
  const files: InboxFile[] = [];
  let problem: string | null = null;
  for (const name of (await readdir(inbox)).sort()) {
    const isTaken = name.startsWith('.') && name.endsWith(TAKEN);
    if (NOT_A_LIST.test(name) && !isTaken) continue;
    const path = join(inbox, name);
    const found = await ignoreErrno(stat(path), 'ENOENT', 'ELOOP');
    if (isTaken) {
      if (found && found.ctimeMs < now - LEFT_MS)
        await giveBack(path, join(inbox, name.slice(1, -TAKEN.length)));
      continue;
    }
    const flaw = flawOf(name, found);
    problem ??= flaw;
    if (found && flaw === null) files.push({ name, at: found.mtimeMs });
  }
  return { files: files.sort((a, b) => a.at - b.at), problem };
}

async function exists(path: string): Promise<boolean> {
  return (await ignoreErrno(stat(path), 'ENOENT')) !== undefined;
}

/** Gives a file its name again. If another file has it by now, that one comes first. */
async function giveBack(taken: string, path: string): Promise<void> {
  if (!(await exists(path))) await ignoreErrno(rename(taken, path), 'ENOENT');
}

/** Why something in an inbox cannot be taken, as a sentence; null if it can, or is gone. */
function flawOf(name: string, found: Stats | undefined): string | null {
  if (!found)
    return name.includes('\ufffd') ? `The name ${name} is not text in UTF-8: rename the file` : null;
  if (!found.isFile()) return `${name} is no file: put files only there`;
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `The name ${name.slice(0, 100)}… is longer than ${MAX_NAME_BYTES} bytes: rename the file`;
  if (found.size === 0) return `${name} is empty`;
  return found.size > MAX_HOTLIST_FILE_BYTES ? `${name}: ${tooLarge().message}` : null;
}

/** Has a file of the inbox imported. @throws Error when it cannot be read; then it is as it was */
async function takeFile(
  parts: SourceParts,
  { id: hotlistId, source }: DueSource,
  inbox: string,
  { name, at }: InboxFile,
): Promise<State> {
  const path = join(inbox, name);
  const taken = join(inbox, `.${name}${TAKEN}`);
  if (await exists(taken)) return { problem: null };
  // Another process of this machine that looks at the same time finds it gone.
  const moved = await ignoreErrno(
    rename(path, taken).then(() => true),
    'ENOENT',
  );
  if (!moved) return { problem: null };
  let isIntact: boolean;
  try {
    const file = await parts.files.receive(hotlistId, createReadStream(taken));
    isIntact = await matchesChecksum(`${path}.sha256`, file);
    const signature = source.publicKey === undefined ? null : await readSignature(`${path}.sig`);
    if (isIntact)
      await addImport(parts.db, {
        ...{ hotlistId, file, origin: 'FOLDER', mode: source.mode, signature },
        ...{ fileName: name, fileAt: at },
      });
    else await parts.files.remove({ hotlistId, id: file.id });
  } catch (error) {
    await giveBack(taken, path);
    throw error;
  }
  // Only now: if the process ends before, the file is taken again.
  for (const done of [taken, `${path}.sha256`, `${path}.sig`]) await rm(done, { force: true });
  if (isIntact) return { problem: null };
  return {
    problem: `${name} does not have the checksum in ${name}.sha256: put all of them there again`,
    discarded: true,
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
  const { db, rules, timings, ending } = parts;
  const url = rules.parse(address);
  const limit = AbortSignal.timeout(timings.hotlistUrlMs);
  const signal = AbortSignal.any([limit, ending]);
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
    if (!limit.aborted || ending.aborted) throw error;
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

const LATEST = Date.UTC(9999, 11, 31);

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
    // PostgreSQL does not read later years in the form in which JavaScript writes them.
    const fileAt = at <= LATEST ? at : null;
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
    const response = await responseOf(request);
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
