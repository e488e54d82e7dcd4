import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formats } from '@gantry/device-formats';
import type { FormatName } from '@gantry/device-formats/format';
import { readMessage } from '@gantry/device-formats/read-message';
import { splitBody } from '@gantry/device-formats/split-body';
import { analyse } from 'scslre';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { appRouter } from '../src/api/router.ts';
import { parseDigest } from '../src/devices/digest.ts';
import { describeProcedures, type JsonSchema } from '../src/http/docs/procedures.ts';
import { describeError } from '../src/platform/describe-error.ts';
import { devicePayload } from './device-messages.ts';
import { connect } from './gateway-calls.ts';
import { type Gantry, startGantry } from './harness.ts';
import { send } from './http-client.ts';
import { processorMs } from './processor-time.ts';
import { lengthOf } from './test-length.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What an expression that tries every position anew needs minutes for. */
const LENGTH = 50_000;
const UNITS = [
  ' ',
  'a',
  '1',
  'a=',
  '"',
  '<',
  '[',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '=',
  '\\',
  '{',
  '(',
  '/',
  '.',
  ':',
  ';',
  ',',
  '-',
  '+',
  '%',
  '&',
  '#',
  '\u0301',
];
const LONG = [...UNITS, 'A+', '//', 'a@', 'eyJ-', 'Datastreams(', 'plate ', '; boundary=', '"a", '].map(
  (unit) => unit.repeat(Math.ceil(LENGTH / unit.length)),
);

/** Those that are sent to a running service: blanks, letters, digits and `a=`, in `npm run test:long` all. */
const SENT = LONG.slice(0, lengthOf({ gate: 4, full: LONG.length }));

/**
 * The bound on the processor time of one message, in ms. Linear expressions take some milliseconds for it, and quadratic
 * ones several seconds.
 */
const BOUND_MS = 2_000;

const sourceFiles = [
  'client',
  'console',
  'contract',
  'device-formats',
  'edge',
  'embedded-postgres',
  'server',
  'simulator',
  'spool',
].flatMap((workspace) =>
  readdirSync(join(root, workspace, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(workspace, 'src', name)),
);

/** The regular expressions of a file. */
const expressionsIn = (name: string): string[] => {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(
    name,
    readFileSync(join(root, name), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    kind,
  );
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
};

const faultsOf = (expression: string): string[] => {
  const end = expression.lastIndexOf('/');
  const literal = { source: expression.slice(1, end), flags: expression.slice(end + 1) };
  return analyse(literal, { assumeRejectingSuffix: false }).reports.map(({ type }) => type);
};

describe('regular expressions', () => {
  it('have no quantifiers that overlap, so that they take linear time', () => {
    const expressions = [...new Set(sourceFiles.flatMap(expressionsIn))];
    expect(expressions.length).toBeGreaterThan(300);
    expect(expressions.filter((each) => faultsOf(each).length > 0)).toEqual([]);
  }, 120_000);

  it('with quantifiers that overlap are found', () => {
    for (const each of ['/\\s+$/', '/(a+)+b/', '/^\\d+\\.?\\d*$/', '/[\\w.]+@/']) {
      expect(faultsOf(each), each).not.toEqual([]);
    }
  });
});

const readBody = async (format: FormatName, body: string): Promise<unknown> => {
  const { parts } = splitBody(null, Buffer.from(body));
  const message = { parts, path: '', topic: null, receivedAt: Date.UTC(2026, 6, 1) };
  return readMessage({ format, timeZone: null, options: {} }, message, { zone: 'Europe/Berlin' });
};

describe.each(formats.map((format) => format.name))('the format %s', (name) => {
  it('reads long strings of one kind in linear time, as bodies and as fields', async () => {
    const payloads = name === 'ops243' ? ['ops243-radar-object.jsonl'] : [];
    const bodies = LONG.flatMap((long) => [
      long,
      JSON.stringify({
        [long.slice(0, 1_000)]: long,
        id: long,
        type: long,
        text: long,
        time: long,
        plate: long,
      }),
      `<a b="x"><c>${long.replaceAll(/[<&]/g, ' ')}</c></a>`,
      `a=${encodeURIComponent(long).slice(0, LENGTH)}`,
    ]);
    for (const file of payloads) bodies.push((await devicePayload(file)).toString() + ' '.repeat(LENGTH));
    for (const body of bodies) {
      const time = await processorMs(() => readBody(name, body).catch(() => undefined));
      expect(time, JSON.stringify(body.slice(0, 60))).toBeLessThan(BOUND_MS);
    }
  }, 120_000);
});

describe('the Digest header', () => {
  it('is read in linear time', async () => {
    for (const long of LONG) {
      for (const header of [long, `username="${long}`, `username=${long}`, `a="b", ${long}`]) {
        expect(await processorMs(() => parseDigest(header))).toBeLessThan(BOUND_MS);
        expect(await processorMs(() => parseDigest(header.slice(0, 7_900)))).toBeLessThan(BOUND_MS);
      }
    }
  });

  it('is read in the forms that devices send', () => {
    const expected = { username: 'a"b', nonce: 'n', uri: '/x?y=1,2', response: 'ff', realm: 'gantry' };
    for (const header of [
      'username="a\\"b", realm="gantry", nonce="n", uri="/x?y=1,2", response="FF"',
      'username="a\\"b",realm="gantry",nonce="n",uri="/x?y=1,2",response="FF",algorithm=MD5',
      ' username = "a\\"b" , realm="gantry", nonce=n, uri="/x?y=1,2", opaque="", qop=, response=ff,',
    ]) {
      expect(parseDigest(header), header).toMatchObject(expected);
    }
    expect(parseDigest('username="a", nonce="n", uri="/", response="never closed')).toBeNull();
    expect(parseDigest('nonsense')).toBeNull();
    expect(parseDigest('')).toBeNull();
  });
});

describe('the description of an error', () => {
  it('is made in linear time', async () => {
    for (const long of LONG) {
      expect(await processorMs(() => describeError(new Error(long)))).toBeLessThan(BOUND_MS);
    }
  });
});

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values for a schema, each with the text in one of its fields, or, at the end, with the text in all of them. */
const withText = (schema: JsonSchema, text: string): unknown[] => {
  for (const choices of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(choices)) return choices.filter(isSchema).flatMap((each) => withText(each, text));
  }
  if (schema.type === 'string') return [text];
  if (schema.type === 'array' && isSchema(schema.items))
    return withText(schema.items, text).map((one) => [one]);
  if (schema.type !== 'object') return [];
  if (!isSchema(schema.properties)) return [{ [text.slice(0, 1_000)]: text }];
  const fields = Object.entries(schema.properties).flatMap(([name, member]) =>
    isSchema(member) ? withText(member, text).map((value) => ({ [name]: value })) : [],
  );
  return [...fields, Object.assign({}, ...fields)];
};

describe('a running service', () => {
  let gantry: Gantry;
  let authorization: string;
  beforeAll(async () => {
    gantry = await startGantry();
    authorization = `Bearer ${await gantry.tokenFor('ADMIN')}`;
  });
  afterAll(() => gantry.stop());

  const procedures = describeProcedures(appRouter).filter(({ input }) => input !== null);
  const schemaOf = (path: string): z.ZodType => {
    const defined = appRouter._def.procedures as unknown as Record<string, { _def: { inputs: z.ZodType[] } }>;
    const [schema] = defined[path]?._def.inputs ?? [];
    if (!schema) throw new Error(`${path} takes no input`);
    return schema;
  };

  it.each(procedures.map(({ path, ...rest }) => [path, rest] as const))(
    'reads every text field of %s in linear time',
    async (path, { type, input }) => {
      const schema = schemaOf(path);
      for (const long of LONG) {
        const values = withText(input ?? {}, long);
        for (const value of values)
          expect(await processorMs(() => schema.safeParse(value)), path).toBeLessThan(BOUND_MS);
        if (type !== 'mutation' || !SENT.includes(long)) continue;
        const body = JSON.stringify({ json: values.at(-1) ?? {} });
        const headers = { 'content-type': 'application/json', authorization };
        const time = await processorMs(() => send(`${gantry.url}/trpc/${path}`, 'POST', headers, body));
        expect(time, path).toBeLessThan(BOUND_MS);
      }
    },
    60_000,
  );

  // The long run sends thousands of requests.
  it('reads every header in linear time', {
    timeout: lengthOf({ gate: 120_000, full: 900_000 }),
  }, async () => {
    const source = sourceFiles
      .filter((name) => name.startsWith('server'))
      .map((name) => readFileSync(join(root, name), 'utf8'))
      .join('\n');
    // Such as headers.origin, headers['x-api-key'] and headerOf(request, 'x-auth-key').
    const inSource = /headers\.([a-z]+)\b|headers\['([a-z-]+)'\]|headerOf\(request, '([a-z-]+)'\)/g;
    const read = new Set([...source.matchAll(inSource)].map(([, ...names]) => names.find(Boolean) ?? ''));
    for (const one of ['authorization', 'content-type', 'verkada-signature', 'x-forwarded-for'])
      expect(read).toContain(one);
    // Those that Node.js reads.
    for (const one of ['content-length', 'transfer-encoding', 'length', 'ts']) read.delete(one);

    const device = new URL((await connect(gantry, 'mapped')).url).pathname;
    const addresses = [
      ['GET', '/'],
      ['GET', '/trpc/system.health'],
      ['GET', '/v1/sensors'],
      ['POST', '/v1/events'],
      ['POST', '/trpc/auth.login'],
      ['POST', '/gateway/hikvision'],
      ['POST', '/gateway/verkada'],
      ['POST', device],
    ] as const;
    const texts = SENT.map((text) => text.slice(0, LENGTH)).filter((text) => /^[\t -~]*$/.test(text));
    for (const name of read) {
      for (const text of ['Digest ', 'Basic ', 'Bearer ', 'text/plain; a=', ''].flatMap((scheme) =>
        scheme === '' || ['authorization', 'content-type'].includes(name)
          ? texts.map((long) => `${scheme}${long}`)
          : [],
      )) {
        for (const [method, path] of addresses) {
          const body = method === 'POST' ? '{}' : undefined;
          const time = await processorMs(() => send(`${gantry.url}${path}`, method, { [name]: text }, body));
          expect(time, `${name} at ${path}`).toBeLessThan(BOUND_MS);
        }
      }
    }
  });
});
