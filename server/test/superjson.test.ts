import fc from 'fast-check';
import superjson, { SuperJSON } from 'superjson';
import { describe, expect, it } from 'vitest';
import { WireError } from '../src/rpc/errors.ts';
import { parseJson, reviveInput } from '../src/rpc/json.ts';
import { metaText, serialize, transformer } from '../src/rpc/output.ts';
import { processorMs } from './processor-time.ts';

/** A value after it was sent as JSON. */
const overTheWire = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
const key = fc
  .oneof(
    fc.string({ maxLength: 5 }),
    fc.array(fc.constantFrom('a', '.', '\\', '0'), { maxLength: 5 }).map((parts) => parts.join('')),
  )
  .filter((text) => !FORBIDDEN.has(text));

const { input } = fc.letrec((tie) => ({
  input: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, undefined, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      fc.date({ noInvalidDate: true }),
      fc.bigInt({ min: -(10n ** 99n), max: 10n ** 99n }),
      fc.constantFrom(/plate/gi, /^a\/b\\/, /[/\n]/su),
    ),
    fc.array(tie('input'), { maxLength: 4 }),
    fc.dictionary(key, tie('input'), { maxKeys: 4 }),
    fc.array(fc.tuple(tie('input'), tie('input')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie('input'), { maxLength: 3 }).map((items) => new Set(items)),
  ),
}));

/** The greatest depth to which Map and Set are nested in a value. */
const nesting = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const wraps = value instanceof Map || value instanceof Set;
  const members = value instanceof Map ? [...value].flat() : wraps ? [...value] : Object.values(value);
  return Math.max(0, ...members.map(nesting)) + (wraps ? 1 : 0);
};

const refusal = (envelope: unknown): unknown => {
  try {
    return { accepted: reviveInput(envelope) };
  } catch (error) {
    return error instanceof WireError ? error.code : error;
  }
};

describe('reviveInput', () => {
  it('restores what superjson writes to what superjson reads', () => {
    fc.assert(
      fc.property(input, (value) => {
        const sent = overTheWire(superjson.serialize(value));
        fc.pre(!sent.meta?.referentialEqualities && nesting(value) <= 4);
        expect(reviveInput(structuredClone(sent))).toStrictEqual(superjson.deserialize(sent));
      }),
      { numRuns: 1000 },
    );
  });

  it('reads the escapes of superjson before version 1', () => {
    const envelope = {
      json: { 'a.b': null, 'c\\': { d: null } },
      meta: { values: { 'a\\.b': ['undefined'], 'c\\.d': ['undefined'] } },
    };
    expect(refusal(envelope)).toBe('BAD_REQUEST');
    const { 'c\\.d': _, ...values } = envelope.meta.values;
    expect(reviveInput({ json: { 'a.b': null }, meta: { values } })).toStrictEqual({ 'a.b': undefined });
  });

  it('accepts values that occur more than once, as superjson writes them', () => {
    const day = new Date('2026-01-31T08:15:00Z');
    const place = { latitude: 52.52, 'a.b': new Map([['since', day]]) };
    const value = { startDate: day, endDate: day, location: place, metadata: { list: [place, place] } };
    const sent = overTheWire(superjson.serialize(value));
    expect(sent.meta?.referentialEqualities).toBeDefined();
    expect(reviveInput(sent)).toStrictEqual(value);
  });

  it('refuses values of which superjson writes only a reference', () => {
    const place = { latitude: 52.52 };
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const brief = new SuperJSON({ dedupe: true });
    expect(refusal(overTheWire(brief.serialize({ location: place, metadata: { place } })))).toBe(
      'BAD_REQUEST',
    );
    for (const value of [circle, { metadata: circle }]) {
      expect(refusal(overTheWire(superjson.serialize(value)))).toBe('BAD_REQUEST');
    }
  });

  it('treats nothing, null and {} as no input, and refuses a bare object', () => {
    for (const none of [undefined, null, {}]) expect(reviveInput(none)).toBeUndefined();
    for (const bare of [{ take: 1 }, [], [{ json: 1 }], 'json', 1, true, { meta: {} }]) {
      expect(refusal(bare)).toBe('BAD_REQUEST');
    }
  });

  it('leaves a Date without a time or an offset as text, because the time zone of the service decides', () => {
    const revive = (json: string) => reviveInput({ json, meta: { values: ['Date'] } });
    expect(revive('2026-01-31')).toBe('2026-01-31');
    expect(revive('2026-01-31T08:15')).toBe('2026-01-31T08:15');
    expect(revive('2026-01-31T08:15:00.000Z')).toEqual(new Date('2026-01-31T08:15:00Z'));
  });

  const deepTree = (levels: number): unknown =>
    levels === 0 ? ['Date'] : ['map', { '0.1': deepTree(levels - 1) }];
  const deepValue = (levels: number): unknown =>
    levels === 0 ? '2026-01-31T08:15:00.000Z' : [['key', deepValue(levels - 1)]];

  it.each<[string, unknown, unknown]>([
    ['a repetition that is not written', { a: [], b: null }, { referentialEqualities: { a: ['b'] } }],
    ['a repetition that leads nowhere', { a: [] }, { referentialEqualities: { a: ['b'] } }],
    ['a repetition of what is not there', { b: [] }, { referentialEqualities: { a: ['b'] } }],
    ['a repetition of the whole', { a: null }, { referentialEqualities: [['a']] }],
    ['a repetition that is a text', { a: [], b: [] }, { referentialEqualities: { a: 'b' } }],
    ['a repetition at a number', { a: [], b: [] }, { referentialEqualities: { a: [1] } }],
    ['repetitions that are null', {}, { referentialEqualities: null }],
    [
      'more than ten thousand repetitions',
      { a: [] },
      { referentialEqualities: { a: Array.from({ length: 10_000 }, () => 'a') } },
    ],
    ['an unknown key', {}, { values: {}, custom: 1 }],
    ['meta that is a list', {}, []],
    ['meta that is a text', {}, 'Date'],
    ['values that are a text', {}, { values: 'Date' }],
    ['values that are a number', {}, { values: 1 }],
    ['an empty type', {}, { values: [] }],
    ['a type with too much behind it', [], { values: ['set', {}, {}] }],
    ['children that are a list', [], { values: ['set', []] }],
    ['children that are null', [], { values: ['set', null] }],
    ['an Error', { a: { message: 'x' } }, { values: { a: ['Error'] } }],
    ['a regular expression that is not closed', { a: '/(a/' }, { values: { a: ['regexp'] } }],
    ['a regular expression with unknown flags', { a: '/a/z' }, { values: { a: ['regexp'] } }],
    ['a regular expression without slashes', { a: 'a' }, { values: { a: ['regexp'] } }],
    ['a regular expression that is a list', { a: ['/a/'] }, { values: { a: ['regexp'] } }],
    ['a regular expression without end', { a: `/${'a'.repeat(1_001)}/` }, { values: { a: ['regexp'] } }],
    ['a URL', { a: 'http://gantry.test' }, { values: { a: ['URL'] } }],
    ['a class', { a: {} }, { values: { a: [['class', 'Sensor']] } }],
    ['a symbol', { a: 'x' }, { values: { a: [['symbol', 'x']] } }],
    ['a custom type', { a: 'x' }, { values: { a: [['custom', 'x']] } }],
    ['a typed array', { a: [1] }, { values: { a: [['typed-array', 'Uint8Array']] } }],
    ['a name of every object', { a: 1 }, { values: { a: ['toString'] } }],
    ['a prototype as a type', { a: 1 }, { values: { a: ['__proto__'] } }],
    ['a type that is a number', { a: 1 }, { values: { a: [1] } }],
    ['a path that leads nowhere', { a: 1 }, { values: { b: ['undefined'] } }],
    ['a path through a text', { a: 'text' }, { values: { 'a.0': ['undefined'] } }],
    ['a path through null', { a: null }, { values: { 'a.b': ['undefined'] } }],
    ['a path to a prototype', {}, { values: { __proto__x: ['undefined'] } }],
    ['a path to __proto__', {}, JSON.parse('{"values": {"__proto__": ["undefined"]}}')],
    ['a path through __proto__', {}, { values: { '__proto__.polluted': ['undefined'] } }],
    ['a path to the constructor', {}, { values: { constructor: ['undefined'] } }],
    ['a path through the constructor', {}, { values: { 'constructor.prototype': ['undefined'] } }],
    ['the length of a list', { a: [1, 2] }, { values: { 'a.length': ['undefined'] } }],
    ['an index behind the end', { a: [] }, { values: { 'a.0': ['undefined'] } }],
    ['a huge index', { a: [] }, { values: { 'a.4294967294': ['undefined'] } }],
    ['a negative index', { a: [1] }, { values: { 'a.-1': ['undefined'] } }],
    ['an index with a zero before it', { a: [1, 2] }, { values: { 'a.01': ['undefined'] } }],
    [
      'a path into a map that was just made',
      { a: [['k', 'v']] },
      { values: { a: ['map'], 'a.0': ['undefined'] } },
    ],
    ['a map that is no list', { a: {} }, { values: { a: ['map'] } }],
    ['a map of triples', { a: [[1, 2, 3]] }, { values: { a: ['map'] } }],
    ['a map of texts', { a: ['ab'] }, { values: { a: ['map'] } }],
    ['a set that is a text', { a: 'abc' }, { values: { a: ['set'] } }],
    ['a set that is an object', { a: { length: 1e9 } }, { values: { a: ['set'] } }],
    ['a Date that is a number', { a: 1 }, { values: { a: ['Date'] } }],
    ['a Date that is no time', { a: 'tomorrow' }, { values: { a: ['Date'] } }],
    ['a Date that does not exist', { a: '2026-02-30T00:00:00.000Z' }, { values: { a: ['Date'] } }],
    ['a bigint with a fraction', { a: '1.5' }, { values: { a: ['bigint'] } }],
    ['a bigint in hexadecimal', { a: '0xff' }, { values: { a: ['bigint'] } }],
    ['a bigint of many digits', { a: '9'.repeat(101) }, { values: { a: ['bigint'] } }],
    ['a number in words', { a: '12' }, { values: { a: ['number'] } }],
    ['nesting without end', deepValue(20), { values: deepTree(20) }],
    ['a path of many steps', {}, { values: { ['.'.repeat(9_000)]: ['Date'] } }],
    ['a path of many escapes', {}, { values: { ['\\.'.repeat(4_000)]: ['Date'] } }],
    ['a path without end', {}, { values: { ['a'.repeat(1_000_000)]: ['Date'] } }],
    [
      'more entries than anybody needs',
      Array.from({ length: 10_001 }, () => null),
      { values: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [index, ['undefined']])) },
    ],
  ])('refuses %s', (_, json, meta) => {
    expect(refusal({ json, meta })).toBe('BAD_REQUEST');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('refuses a path of ten million steps without following it', async () => {
    const sent = { json: {}, meta: { values: { ['.'.repeat(10_000_000)]: ['Date'] } } };
    const work = await processorMs(() => expect(refusal(sent)).toBe('BAD_REQUEST'));
    expect(work).toBeLessThan(500);
  });
});

/** The whole envelope of a value as text. */
const envelopeOf = (value: unknown): string => {
  const { json, values } = serialize(value);
  return `{"json":${json}${metaText(values)}}`;
};

describe('serialize', () => {
  const { output } = fc.letrec((tie) => ({
    output: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.date({ noInvalidDate: true })),
      fc.array(tie('output'), { maxLength: 4 }),
      fc.dictionary(key, tie('output'), { maxKeys: 4 }),
    ),
  }));

  it('writes what superjson writes', () => {
    fc.assert(
      fc.property(output, (value) => {
        const expected = superjson.serialize(value);
        expect(JSON.parse(envelopeOf(value))).toStrictEqual(overTheWire(expected));
        expect(JSON.parse(JSON.stringify(transformer.output.serialize(value)))).toStrictEqual(
          overTheWire(expected),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('writes the same bytes as superjson for answers of the API', () => {
    const at = () => new Date(1_700_000_000_000);
    const event = () => ({
      id: 'a',
      at: at(),
      metadata: { 'a.b': at(), 'c\\d': [at(), null, { at: at() }], '': at(), plate: 'W-Ü "1"\n' },
      images: [],
      speed: 51.5,
    });
    for (const value of [
      { events: [event(), event()], total: 2, at: at() },
      [at(), 1],
      at(),
      null,
      'text',
      1.5,
      [],
      {},
    ])
      expect(envelopeOf(value)).toBe(JSON.stringify(superjson.serialize(value)));
  });

  it('writes a value that occurs twice as two values', () => {
    const shared = { at: new Date(0) };
    const { json, meta } = JSON.parse(envelopeOf({ a: shared, b: shared }));
    expect(json).toEqual({ a: { at: '1970-01-01T00:00:00.000Z' }, b: { at: '1970-01-01T00:00:00.000Z' } });
    expect(meta).toEqual({ values: { 'a.at': ['Date'], 'b.at': ['Date'] }, v: 1 });
  });

  it('writes a key named constructor, which superjson refuses', () => {
    expect(envelopeOf({ constructor: 1 })).toBe('{"json":{"constructor":1}}');
  });
});

describe('the JSON of a request', () => {
  // Braces in a text count as values if its end is not found, and other values do not if it is found too late.
  const piece = fc.constantFrom(
    '{',
    '[',
    '"',
    '\\',
    '\n',
    'a',
    'é',
    '\u{1f697}',
    'x'.repeat(40),
    '"'.repeat(70),
  );
  const long = fc.array(piece, { maxLength: 150 }).map((pieces) => pieces.join(''));
  const levels = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  it('is read whatever its texts contain', () => {
    fc.assert(
      fc.property(fc.array(long, { maxLength: 5 }), (texts) => {
        expect(parseJson(Buffer.from(JSON.stringify(texts)))).toEqual(texts);
      }),
    );
  });

  it('may be 64 levels deep behind any texts, and no deeper', () => {
    fc.assert(
      fc.property(long, (text) => {
        const nested = (depth: number) => Buffer.from(`[${JSON.stringify(text)},${levels(depth)}]`);
        expect(() => parseJson(nested(63))).not.toThrow();
        expect(() => parseJson(nested(64))).toThrow('nests deeper than 64 levels');
      }),
    );
  });

  it('is refused when a text does not end', () => {
    fc.assert(
      fc.property(long, (text) => {
        const whole = JSON.stringify(text);
        expect(() => parseJson(Buffer.from(`[${whole.slice(0, -1)}`))).toThrow('not valid JSON');
      }),
    );
  });
});
