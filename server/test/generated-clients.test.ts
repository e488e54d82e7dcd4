import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { describeProcedure } from '../src/http/docs/procedures.ts';
import { type Gantry, startGantry } from './harness.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** A program as an integrator writes it with the client of openapi-typescript and openapi-fetch. */
const WITH_OPENAPI_FETCH = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const [baseUrl = '', token = '', key = ''] = process.argv.slice(2);
const device = createClient<paths>({ baseUrl, headers: { 'x-api-key': key } });
const user = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const stored = await device.POST('/v1/events', { body: { eventType: 'INCIDENT', vehicleSpeed: 12.5 } });
if (!stored.data || !('eventId' in stored.data)) throw new Error(JSON.stringify(stored.error));
const one = await user.GET('/v1/events/{id}', { params: { path: { id: stored.data.eventId } } });
const speed: number | null | undefined = one.data?.vehicleSpeed;
const page = await user.GET('/v1/events', { params: { query: { take: 1, eventType: 'INCIDENT', processed: false } } });
const total: number | undefined = page.data?.total;
const missing = await user.GET('/v1/events/{id}', { params: { path: { id: 'none' } } });
const beat = await device.GET('/v1/heartbeat', {});
console.log(JSON.stringify({ speed, total, problem: missing.error?.code, status: beat.data?.status }));
`;

/** The same with the client of @hey-api/openapi-ts. */
const WITH_HEY_API = `
import { createClient } from './hey/client/index.ts';
import { getEvents, getEventsById, getHeartbeat, postEvents } from './hey/index.ts';

const [baseUrl = '', token = '', key = ''] = process.argv.slice(2);
const device = createClient({ baseUrl, headers: { 'x-api-key': key } });
const user = createClient({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const stored = await postEvents({ client: device, body: { eventType: 'INCIDENT', vehicleSpeed: 12.5 } });
if (!stored.data || !('eventId' in stored.data)) throw new Error(JSON.stringify(stored.error));
const one = await getEventsById({ client: user, path: { id: stored.data.eventId } });
const speed: number | null | undefined = one.data?.vehicleSpeed;
const page = await getEvents({ client: user, query: { take: 1, eventType: 'INCIDENT', processed: false } });
const total: number | undefined = page.data?.total;
const missing = await getEventsById({ client: user, path: { id: 'none' } });
const beat = await getHeartbeat({ client: device });
console.log(JSON.stringify({ speed, total, problem: missing.error?.code, status: beat.data?.status }));
`;

/** Every example of a body, without the fields that have a default, as the generated types describe it. */
const bodiesOf = (document: OpenApi): string => {
  const bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, description }]) => {
      const content = requestBody?.content['application/json'];
      if (!content) return [];
      const [, named] = /Calls `([\w.]+)`/.exec(description ?? '') ?? [];
      const procedure = named ?? path.slice('/trpc/'.length);
      const properties = describeProcedure(appRouter, procedure)?.input?.properties ?? {};
      const hasDefault = (name: string): boolean =>
        Object.hasOwn((properties as Record<string, object>)[name] ?? {}, 'default');
      const without = (value: object): object =>
        Object.fromEntries(Object.entries(value).filter(([name]) => !hasDefault(name)));
      const { example } = content;
      const body = path.startsWith('/trpc/') ? { json: without(example.json ?? {}) } : without(example);
      const place = `paths['${path}']['${method}']`;
      const type = `NonNullable<${place}['requestBody']>['content']['application/json']`;
      return [`  ((body: ${type}) => body)(${JSON.stringify(body)}),`];
    }),
  );
  return ["import type { paths } from './schema.d.ts';", 'export const bodies = [', ...bodies, '];', ''].join(
    '\n',
  );
};

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly description?: string;
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly example: { readonly json?: object } }>>;
            };
          }
        >
      >
    >
  >;
}

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
    lib: ['es2023', 'dom', 'dom.iterable'],
  },
  files: ['fetch.ts', 'hey.ts', 'bodies.ts'],
};

let gantry: Gantry;
let folder: string;
let bodies: string;
beforeAll(async () => {
  gantry = await startGantry();
  folder = await mkdtemp(join(root, '.clients-'));
  const { body } = await gantry.fetch('/openapi.json');
  const path = join(folder, 'openapi.json');
  await writeFile(path, JSON.stringify(body));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(folder, 'schema.d.ts'), astToString(await openapiTS(body)));
  await createClient({
    input: path,
    output: { path: join(folder, 'hey'), importFileExtension: '.ts' },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent' },
  });
  await writeFile(join(folder, 'fetch.ts'), WITH_OPENAPI_FETCH);
  await writeFile(join(folder, 'hey.ts'), WITH_HEY_API);
  bodies = bodiesOf(body);
  await writeFile(join(folder, 'bodies.ts'), bodies);
}, 120_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await gantry.stop();
});

describe('clients generated from the OpenAPI document', () => {
  it('compile, also with bodies without the fields that have defaults, and call the service', async () => {
    const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
    const compiled = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
    expect(compiled.stdout).toBe('');
    expect(bodies.split('\n').length).toBeGreaterThan(100);
    const token = await gantry.tokenFor('ADMIN');
    const key = await gantry.registerSensor();
    for (const [at, program] of ['fetch.ts', 'hey.ts'].entries()) {
      const { stdout } = await run(
        process.execPath,
        ['--import', 'tsx', join(folder, program), gantry.url, token, key],
        { cwd: root },
      );
      expect(JSON.parse(stdout)).toEqual({
        speed: 12.5,
        total: at + 1,
        problem: 'NOT_FOUND',
        status: 'ONLINE',
      });
    }
  }, 120_000);
});
