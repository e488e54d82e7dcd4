import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MINUTE_MS } from '@gantry/contract/durations';
import { REALM } from './secrets.ts';
import type { KnownConnection } from './store.ts';
import { splitTarget } from './target.ts';

// Digest authentication: RFC 7616 with qop=auth, and RFC 2069 for devices that do not support qop.

/** The lifetime of a nonce, in milliseconds. Devices request another one afterwards without being told to. */
const NONCE_MS = 5 * MINUTE_MS;

/** How far in the future a nonce may be, in milliseconds: the clock of the process that made it may be ahead. */
const MAX_SKEW_MS = 60_000;

/** Records the use of a nonce in the database, for all processes. */
type RecordUse = (nonce: string, counter: number, expiresAt: Date) => Promise<boolean>;

/**
 * Makes and checks nonces, which are valid in all processes of the service and after a restart. A nonce is a time, a random
 * number and the signature of both.
 */
export class DigestNonces {
  readonly #secret: string;
  readonly #now: () => number;
  readonly #record: RecordUse;

  /** @param secret the same in all processes and after a restart */
  constructor(secret: string, now: () => number, record: RecordUse) {
    this.#secret = secret;
    this.#now = now;
    this.#record = record;
  }

  make(): string {
    const text = `${this.#now().toString(16).padStart(12, '0')}${randomBytes(8).toString('hex')}`;
    return `${text}${this.#sign(text)}`;
  }

  /** Whether the service made the nonce, and whether it has expired. */
  check(nonce: string): 'valid' | 'expired' | 'foreign' {
    if (!/^[0-9a-f]{60}$/.test(nonce) || !isEqual(nonce.slice(28), this.#sign(nonce.slice(0, 28))))
      return 'foreign';
    const age = this.#now() - Number.parseInt(nonce.slice(0, 12), 16);
    return age > NONCE_MS || age < -MAX_SKEW_MS ? 'expired' : 'valid';
  }

  /** Records the use of a nonce. @returns false if this counter, or a higher one, was used with it before */
  use(nonce: string, counter: number): Promise<boolean> {
    return this.#record(nonce, counter, new Date(this.#now() + NONCE_MS + MAX_SKEW_MS));
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#secret).update(`digest nonce ${text}`).digest('hex').slice(0, 32);
  }
}

/** The members of an Authorization header. */
export interface DigestAnswer {
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  readonly algorithm: 'md5' | 'sha256';
  readonly isSession: boolean;
  /** Null for RFC 2069. */
  readonly qop: { readonly nc: string; readonly cnonce: string } | null;
}

/** Maximum length of a Digest header, in characters. Those of devices have a few hundred, and the URL counts twice. */
const MAX_DIGEST_LENGTH = 8_000;

/** One member, at the position where the last one ended: the name, and a value in quotes or without. */
const MEMBER = /[\s,]*([a-z]{1,30}\*?)[^\S\n]{0,9}=[^\S\n]{0,9}(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/iy;

/**
 * The members of a Digest header; null when it is too long, cannot be read to its end, or when a member is missing or not
 * supported.
 */
export function parseDigest(text: string): DigestAnswer | null {
  if (text.length > MAX_DIGEST_LENGTH) return null;
  const members = new Map<string, string>();
  const rest = text.trim().replace(/,$/, '');
  MEMBER.lastIndex = 0;
  for (let end = 0; end < rest.length; end = MEMBER.lastIndex) {
    // A sticky expression looks for nothing further on, so that all of them together take linear time.
    const [, name = '', quoted, plain] = MEMBER.exec(rest) ?? [];
    if (name === '') return null;
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1');
    if (value !== '' || quoted !== undefined) members.set(name.toLowerCase(), value ?? '');
  }
  const of = (name: string): string | undefined => members.get(name);
  const [username, nonce, uri, response] = [of('username'), of('nonce'), of('uri'), of('response')];
  if (username === undefined || nonce === undefined || uri === undefined || response === undefined)
    return null;
  const [, name, session] = /^(md5|sha-256)(-sess)?$/i.exec(of('algorithm') ?? 'MD5') ?? [];
  if (name === undefined) return null;
  const qop = of('qop')?.toLowerCase();
  const [nc, cnonce] = [of('nc'), of('cnonce')];
  if (qop !== undefined && (qop !== 'auth' || nc === undefined || cnonce === undefined)) return null;
  return {
    username,
    realm: of('realm') ?? REALM,
    nonce,
    uri,
    response: response.toLowerCase(),
    algorithm: name.toLowerCase() === 'md5' ? 'md5' : 'sha256',
    isSession: session !== undefined,
    qop: qop === undefined || nc === undefined || cnonce === undefined ? null : { nc, cnonce },
  };
}

/**
 * The headers that ask for a Digest. MD5 comes first, because firmware that knows only MD5 often reads only the first
 * header.
 */
export function digestChallenges(nonces: DigestNonces, stale: boolean): string[] {
  return ['MD5', 'SHA-256'].map(
    (algorithm) =>
      `Digest realm="${REALM}", qop="auth", algorithm=${algorithm}, nonce="${nonces.make()}", opaque="${OPAQUE}"${stale ? ', stale=true' : ''}`,
  );
}

/** Some clients require this member, which has no meaning here. */
const OPAQUE = createHash('md5').update(REALM).digest('hex');

/**
 * Whether the answer is correct and was not used before. `stale`: it is correct, but must be repeated with a new nonce,
 * because this one is not from the service, has expired, or was used before.
 */
export async function checkDigest(
  nonces: DigestNonces,
  connection: Pick<KnownConnection, 'digestMd5' | 'digestSha256'>,
  answer: DigestAnswer,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): Promise<'accepted' | 'stale' | 'wrong'> {
  const { algorithm, nonce, uri, qop, isSession } = answer;
  if (answer.realm !== REALM || !isSameTarget(uri, url)) return 'wrong';
  const digest = (text: string): string => createHash(algorithm).update(text).digest('hex');
  const identity = algorithm === 'md5' ? connection.digestMd5 : connection.digestSha256;
  const ha1 = isSession && qop ? digest(`${identity}:${nonce}:${qop.cnonce}`) : identity;
  const ha2 = digest(`${method}:${uri}`);
  const expected = qop
    ? digest(`${ha1}:${nonce}:${qop.nc}:${qop.cnonce}:auth:${ha2}`)
    : digest(`${ha1}:${nonce}:${ha2}`);
  if (!isEqual(expected, answer.response)) return 'wrong';
  if (nonces.check(nonce) !== 'valid') return 'stale';
  const counter = qop ? Number.parseInt(qop.nc, 16) : 1;
  if (!Number.isSafeInteger(counter) || counter < 1) return 'wrong';
  return (await nonces.use(nonce, counter)) ? 'accepted' : 'stale';
}

/** Whether the signed target is the requested one. Devices write it in origin or absolute form, and some omit the query. */
function isSameTarget(uri: string, url: string): boolean {
  const [signed, asked] = [splitTarget(uri), splitTarget(url)];
  return signed.path === asked.path && (signed.query === asked.query || signed.query === '');
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
