import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@gantry/contract/permissions';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import pg from 'pg';
import type { Logger } from 'pino';
import { expect, inject } from 'vitest';
import type { PasswordCost } from '../src/accounts/passwords.ts';
import { appRouter } from '../src/api/router.ts';
import { readConfig } from '../src/platform/config.ts';
import { type App, createApp, type Overrides } from '../src/programs/app.ts';
import { fileServices } from './file-services.ts';
import { send, type TextAnswer } from './http-client.ts';
import { noteSecrets, suiteLog } from './leaks.ts';

/** The administrator of every test service. */
export const ADMIN = { email: 'admin@gantry.local', password: 'Correct-horse-1' };

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  // The body is whatever JSON came; tests look into it freely.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  /** superjson meta to send along. */
  readonly meta?: unknown;
}

// Connections cost PostgreSQL much processor time, so these stay open for all files of a worker, and a service in a test
// opens none before it needs it.
let admins: pg.Pool | undefined;

/** Creates a database, copied from the migrated template or from the named one, such as PostgreSQL's empty one. */
export const createTestDatabase = async (
  template = inject('databaseTemplate'),
): Promise<{ url: string; drop(): Promise<void> }> => {
  const server = inject('databaseServer');
  const name = `gantry_test_${randomUUID().replaceAll('-', '')}`;
  admins ??= new pg.Pool({ connectionString: server, idleTimeoutMillis: 0, allowExitOnIdle: true }).on(
    'error',
    () => undefined,
  );
  const admin = (statement: string) => admins?.query(statement);
  // Copied as files: the default strategy, which writes every page to the WAL, takes PostgreSQL nearly twice the
  // time.
  await admin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await admin(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
};

const procedures = new Map(Object.entries<AnyTRPCProcedure>((appRouter as AnyTRPCRouter)._def.procedures));
const isMutation = (procedure: string): boolean => {
  const found = procedures.get(procedure);
  if (!found) throw new Error(`There is no procedure ${procedure}`);
  return found._def.type === 'mutation';
};

const parseBody = ({ headers, text }: Pick<TextAnswer, 'headers' | 'text'>): unknown =>
  headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;

/** A running service as seen by a client without a library. */
export class Caller {
  readonly url: string;
  readonly #tokens = new Map<Role, Promise<string>>();

  constructor(url: string) {
    this.url = url;
  }

  /** Any request; a JSON answer is parsed. */
  async fetch(path: string, init?: RequestInit): Promise<HttpAnswer> {
    const response = await fetch(`${this.url}${path}`, init);
    const { status, headers } = response;
    return { status, headers, body: parseBody({ headers, text: await response.text() }) };
  }

  /** Calls a procedure with the method that it requires. */
  async call(
    procedure: string,
    input?: unknown,
    { token, headers, meta }: CallOptions = {},
  ): Promise<HttpAnswer> {
    const envelope = JSON.stringify({ json: input, ...(meta !== undefined && { meta }) });
    noteSecrets(input);
    const sent = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    };
    if (isMutation(procedure)) {
      const answer = await this.#send(
        'POST',
        `/trpc/${procedure}`,
        { ...(input !== undefined && { 'content-type': 'application/json' }), ...sent },
        input === undefined ? undefined : envelope,
      );
      noteSecrets(answer.body?.result?.data?.json);
      return answer;
    }
    const query = input === undefined ? '' : `?input=${encodeURIComponent(envelope)}`;
    return this.#send('GET', `/trpc/${procedure}${query}`, sent);
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<HttpAnswer> {
    const answer = await send(`${this.url}${path}`, method, headers, body);
    return { status: answer.status, headers: answer.headers, body: parseBody(answer) };
  }

  /** Calls a procedure that must succeed and returns its value; dates are ISO text. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
  async ok<Answer = any>(procedure: string, input?: unknown, options?: CallOptions): Promise<Answer> {
    const { status, body } = await this.call(procedure, input, options);
    if (status !== 200) throw new Error(`${procedure} answered ${status}: ${JSON.stringify(body)}`);
    return body.result.data.json;
  }

  /** Calls a procedure that must refuse, and returns its status with the members of its error. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
  async refusal(procedure: string, input?: unknown, options?: CallOptions): Promise<any> {
    const { status, body } = await this.call(procedure, input, options);
    return { status, ...body.error?.json };
  }

  /** Reports an event of a sensor, which must be accepted, and returns its id. */
  async ingest(apiKey: string, fields: object = {}): Promise<string> {
    return (await this.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION', ...fields })).eventId;
  }

  async login(email: string, password: string): Promise<string> {
    return (await this.ok('auth.login', { email, password })).token;
  }

  /** A token of a user with the role, who is created on first use. */
  tokenFor(role: Role): Promise<string> {
    const known = this.#tokens.get(role);
    if (known) return known;
    const token = role === 'ADMIN' ? this.login(ADMIN.email, ADMIN.password) : this.#createUser(role);
    this.#tokens.set(role, token);
    return token;
  }

  async #createUser(role: Role): Promise<string> {
    const email = `${role.toLowerCase()}@gantry.local`;
    const password = ADMIN.password;
    const user = { email, password, firstName: role, lastName: 'Tester', role };
    await this.ok('users.create', user, { token: await this.tokenFor('ADMIN') });
    return this.login(email, password);
  }

  /** Registers an arbitrary sensor and returns its API key. */
  async registerSensor(): Promise<string> {
    const input = { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA' };
    return (await this.ok('sensors.create', input, { token: await this.tokenFor('ADMIN') })).apiKey;
  }
}

/** A service in this process. */
export class Gantry extends Caller implements AsyncDisposable {
  readonly app: App;
  readonly #close: () => Promise<void>;

  constructor(app: App, url: string, close: () => Promise<void>) {
    super(url);
    this.app = app;
    this.#close = close;
  }

  get pool(): pg.Pool {
    return this.app.context.pool;
  }

  /** Counts the rows of a table, or of anything that may follow FROM. */
  async count(what: string): Promise<number> {
    return (await this.pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)).rows[0]?.n ?? 0;
  }

  stop(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** The cost of hashing passwords in test services: minimal, because they create hundreds of users. */
const CHEAP: PasswordCost = { memoryCost: 64, timeCost: 1, parallelism: 1 };

export interface GantryOptions {
  /** Settings by the names of their environment variables. */
  readonly config?: Record<string, string>;
  readonly log?: Logger;
  /** In addition to a cheap password hash; `passwordCost: undefined` selects the cost of an installation. */
  readonly overrides?: Overrides;
}

/** Starts the whole service on a database of its own and a free port, for a test that stops it. */
export const startGantry = async (options: GantryOptions = {}): Promise<Gantry> => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'gantry-data-'));
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    // The server of the tests may be configured for speed instead of durability.
    ALLOW_UNSAFE_DATABASE: 'true',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ...options.config,
  });
  const app = await createApp(config, options.log ?? suiteLog(), null, {
    passwordCost: CHEAP,
    opensKept: false,
    ...options.overrides,
  });
  const url = await app.listen();
  return new Gantry(app, url, async () => {
    await app[Symbol.asyncDispose]();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });
};

/** Starts a service for all tests of a file, which call this at their top level. It is stopped after the last of them. */
export const sharedGantry = async (options: GantryOptions = {}): Promise<Gantry> => {
  const gantry = await startGantry(options);
  fileServices.add(gantry);
  return gantry;
};

/** Delay before the next query, in milliseconds: short at first, then longer, because queries are work too. */
const PAUSES_MS = { first: 10, most: 100 };

/** A busy machine takes many times as long as an idle one. Only a test that fails waits for so long. */
export const PATIENCE_MS = 100_000;

/** Repeats a query, for up to `ms` milliseconds, until the answer satisfies the condition. */
export const eventually = async <Answer>(
  ask: () => Promise<Answer>,
  satisfies: (answer: Answer) => boolean,
  ms = PATIENCE_MS,
): Promise<Answer> => {
  const deadline = Date.now() + ms;
  for (let pause = PAUSES_MS.first; ; pause = Math.min(pause * 1.5, PAUSES_MS.most)) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`Still not so after ${ms} ms: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};

/** How far the clocks of a service and of its test may differ, in milliseconds. */
const CLOCKS_MS = 1_000;

/** Expects a time that a service has taken between two moments of the test (Unix milliseconds). */
export const expectBetween = (time: string, from: number, until: number): void => {
  expect(Date.parse(time)).toBeGreaterThanOrEqual(from - CLOCKS_MS);
  expect(Date.parse(time)).toBeLessThanOrEqual(until + CLOCKS_MS);
};

/** Selects the locks that transactions wait for, without those in the databases of other tests. */
export const WAITING_LOCKS = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE NOT granted AND datname = current_database()`;

/** The sessions that wait for a lock, as what may follow FROM. */
export const WAITING_SESSIONS =
  "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Waits for the first message of a stream, which shows that it has started: the head of the answer comes earlier. */
export const untilBegun = async (stream: { readonly messages: readonly unknown[] }): Promise<void> => {
  await eventually(
    async () => stream.messages.length,
    (count) => count > 0,
  );
};
