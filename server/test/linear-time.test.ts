import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from 'scslre';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { formats } from '../src/connections/formats.ts';
import { parseDigest } from '../src/gateways/digest.ts';
import { describeError } from '../src/platform/describe-error.ts';
import { devicePayload, readBody } from './formats/reading.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What an expression that tries every position anew needs minutes for. */
const LENGTH = 50_000;
const UNITS = [
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  'a',
  '1',
  '=',
  'a=',
  '"',
  '\\',
  '<',
  '[',
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

/**
 * The bound on the processor time of one message, in ms. Linear expressions take some milliseconds for it, and quadratic
 * ones several seconds.
 */
const BOUND_MS = 2_000;

/** The processor time of the main thread, in ms. */
const processorTime = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

const sourceFiles = ['client', 'console', 'contract', 'edge', 'server', 'simulator'].flatMap((workspace) =>
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

describe.each(formats.map((format) => [format.name, format] as const))('the format %s', (_, format) => {
  it('reads long strings of one kind in linear time, as bodies and as fields', async () => {
    const payloads = format.name === 'ops243' ? ['ops243-radar-object.jsonl'] : [];
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
      const time = await processorTime(() => readBody(format, body).catch(() => undefined));
      expect(time, JSON.stringify(body.slice(0, 60))).toBeLessThan(BOUND_MS);
    }
  }, 120_000);
});

describe('the Digest header', () => {
  it('is read in linear time', async () => {
    for (const long of LONG) {
      for (const header of [long, `username="${long}`, `username=${long}`, `a="b", ${long}`]) {
        expect(await processorTime(() => parseDigest(header))).toBeLessThan(BOUND_MS);
        expect(await processorTime(() => parseDigest(header.slice(0, 7_900)))).toBeLessThan(BOUND_MS);
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
      expect(await processorTime(() => describeError(new Error(long)))).toBeLessThan(BOUND_MS);
    }
  });
});
