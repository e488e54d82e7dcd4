import type { SessionUser } from '@gantry/contract/auth';
import { BATCH_ARRAY_TYPE, MAX_BATCH } from '@gantry/contract/envelope';
import type { AppRouter } from '@gantry/server/router';
import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  type Operation,
  splitLink,
  type TRPCClient,
  type TRPCLink,
} from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { EventSource, type FetchLike } from 'eventsource';
import superjson from 'superjson';
import { GantryError, type GantryErrorCode, gantryErrorOf } from './error.ts';
import { speakingFetch, warnOfIgnored } from './transport.ts';

export { GantryError, type GantryErrorCode };

export interface GantryClientOptions {
  /** Address of the service, such as `http://127.0.0.1:4000`. */
  url: string | URL;
  /** Access token to start with. */
  token?: string;
  /** The `fetch` to use, if not the global one. */
  fetch?: typeof globalThis.fetch;
  /** Time limit for an answer, in milliseconds. Default: 35,000. The service itself answers within 30 s. */
  timeoutMs?: number;
  /**
   * Called with the fields of an input that the service does not know and ignored, as paths with dots, and the URL of the
   * request; in a batch, each path begins with the position of its call. Default: a warning on the console, except if
   * NODE_ENV is `production`.
   */
  onIgnored?: (fields: readonly string[], url: string) => void;
}

/** A typed client of one Gantry service, with its access token. */
export interface GantryClient {
  /**
   * All procedures of the service: `api.sensors.getAll.query(…)`, `api.sensors.create.mutate(…)`,
   * `api.events.onIngested.subscribe(…)`.
   */
  readonly api: TRPCClient<AppRouter>;
  /**
   * Logs in and uses the new token from then on.
   * @param code for an account with a second factor: the code of the authenticator app, or a recovery code. If it is
   * missing, the error has the message `SECOND_FACTOR_REQUIRED` of `@gantry/contract/second-factor`
   */
  login(email: string, password: string, code?: string): Promise<SessionUser>;
  /** Revokes the token, and discards it. It is discarded even if the call fails because the service is unreachable. */
  logout(): Promise<void>;
  /** Exchanges the token for a new one before it expires. */
  refresh(): Promise<SessionUser>;
  setToken(token: string | null): void;
  readonly token: string | null;
}

/** Procedures that are not batched, because their inputs may be large, or because a login should not wait for a slower call. */
const UNBATCHED = new Set([
  'auth.login',
  'events.ingest',
  'events.ingestBatch',
  'faults.report',
  'faults.update',
  'incidents.addNote',
  'sensors.heartbeat',
]);

/** Queries that are sent with POST, because their inputs may be too long for a URL. */
const POSTED = new Set(['connections.tryReading']);

/** Maximum length of the URL of a batch of queries, in characters. Many proxies refuse more than 8 KB. */
const MAX_URL_LENGTH = 8000;

/** Maximum size of the input of a query in a batch, in bytes: even percent-encoded, it fits into the URL. */
const MAX_BATCHED_INPUT = 2000;
const DEFAULT_TIMEOUT_MS = 35_000;
const transformer = {
  input: { serialize, deserialize: superjson.deserialize },
  output: { serialize, deserialize: superjson.deserialize },
};

const tellErrors: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) =>
      next(op).subscribe({
        next: (value) => observer.next(value),
        error: (error) => observer.error(gantryErrorOf(error)),
        complete: () => observer.complete(),
      }),
    );

/** Creates a client of the service at an address. */
export function createGantryClient(options: string | URL | GantryClientOptions): GantryClient {
  const settings = typeof options === 'string' || options instanceof URL ? { url: options } : options;
  let base = String(settings.url);
  while (base.endsWith('/')) base = base.slice(0, -1);
  let token = settings.token ?? null;

  const fetch = settings.fetch ?? globalThis.fetch;
  const link = {
    url: `${base}/trpc`,
    transformer,
    fetch: speakingFetch(
      base,
      fetch,
      settings.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      settings.onIgnored ?? warnOfIgnored,
    ),
    headers: (): Record<string, string> => (token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const batchLink = httpBatchLink<AppRouter>({
    ...link,
    headers: () => ({ ...link.headers(), accept: BATCH_ARRAY_TYPE }),
    maxItems: MAX_BATCH,
    maxURLLength: MAX_URL_LENGTH,
  });
  // The EventSource of browsers cannot send headers, and a token does not belong in a URL.
  const streamFetch: FetchLike = async (address, init) => {
    const response = await fetch(address, { ...init, headers: { ...init.headers, ...link.headers() } });
    if (response.status < 500) return response;
    // EventSource gives up after such a response, which a proxy returns while the service restarts, but not after an error.
    await response.body?.cancel();
    throw new TypeError(`The stream was answered with the status ${response.status}`);
  };
  const streamLink = httpSubscriptionLink<AppRouter, typeof EventSource>({
    url: link.url,
    transformer,
    EventSource,
    eventSourceOptions: { fetch: streamFetch },
  });
  const single = splitLink<AppRouter>({
    condition: ({ path }) => POSTED.has(path),
    true: httpLink({ ...link, methodOverride: 'POST' }),
    false: httpLink(link),
  });
  const calls = splitLink<AppRouter>({ condition: goesAlone, true: single, false: batchLink });
  const split = splitLink<AppRouter>({
    condition: ({ type }) => type === 'subscription',
    true: streamLink,
    false: calls,
  });
  const api = createTRPCClient<AppRouter>({ links: [tellErrors, split] });

  return {
    api,
    async login(email, password, code) {
      const session = await api.auth.login.mutate({
        email,
        password,
        ...(code !== undefined && { code }),
      });
      token = session.token;
      return session.user;
    },
    async logout() {
      try {
        if (token !== null) await api.auth.logout.mutate();
      } finally {
        token = null;
      }
    },
    async refresh() {
      const session = await api.auth.refreshToken.mutate();
      token = session.token;
      return session.user;
    },
    setToken(next) {
      token = next;
    },
    get token() {
      return token;
    },
  };
}

/** Serializes a value, without superjson's annotation of objects that occur more than once, which the service does not need. */
function serialize(value: unknown) {
  requireDates(value, 'input');
  const { json, meta } = superjson.serialize(value);
  if (!meta?.values) return { json };
  return { json, meta: { values: meta.values, v: meta.v } };
}

/** @throws RangeError for a Date that is not a time, which JSON would turn into null */
function requireDates(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new RangeError(`${path} is an invalid Date`);
    return;
  }
  for (const [name, each] of Object.entries(value)) requireDates(each, `${path}.${name}`);
}

function goesAlone({ path, type, input }: Operation): boolean {
  return (
    UNBATCHED.has(path) ||
    POSTED.has(path) ||
    (type === 'query' &&
      new TextEncoder().encode(JSON.stringify(serialize(input))).length > MAX_BATCHED_INPUT)
  );
}
