import fc from 'fast-check';
import type { JsonSchema } from '../src/http/docs/procedures.ts';

// Values that are meant to do harm, for inputs of procedures.

/** Text of every kind: any UTF-16, long, blank, and with a meaning in other languages. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '',
    ' ',
    '\t\n',
    '\u0000',
    '\ud800',
    '\ufeff',
    '\u202e',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '*',
    '**********',
    '..',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    '-0',
    '1e400',
    "'; DROP TABLE events; --",
    '<script>alert(1)</script>',
    '%{jndi:ldap://x}',
    '{{7*7}}',
    '=1+1',
    'İıſK',
    '\u0130',
    '０１２',
    '9999-12-31T23:59:59Z',
    '9999-12-31',
    '0000-01-01',
    '2026-02-30',
    '00000000-0000-0000-0000-000000000000',
  ),
  fc.integer({ min: 1, max: 20_000 }).map((length) => 'x'.repeat(length)),
);

const hostileNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, -1, 1, 0.5, 100, 101, 2 ** 31, 2 ** 53, 1e308, -1e308, Number.MIN_VALUE),
);

/** Any JSON, with keys that have a meaning in JavaScript. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    hostileNumber,
    hostileText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.oneof(hostileText, fc.constantFrom('id', 'json', 'apiKey', 'toJSON', 'then', 'length')),
      tie('value'),
      {
        maxKeys: 5,
      },
    ),
  ),
})).value;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values that nearly match a schema: the right members, most of which are valid and the others arbitrary. */
export const nearly = (schema: JsonSchema, known: readonly string[]): fc.Arbitrary<unknown> => {
  const fitting = ((): fc.Arbitrary<unknown> => {
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    if (schema.const !== undefined) return fc.constant(schema.const);
    const choices = [schema.anyOf, schema.oneOf].find(Array.isArray)?.filter(isSchema) ?? [];
    if (choices.length > 0) return fc.oneof(...choices.map((choice) => nearly(choice, known)));
    if (Array.isArray(schema.allOf)) {
      const all = schema.allOf.filter(isSchema).map((part) => nearly(part, known));
      return fc.tuple(...all).map((parts) => Object.assign({}, ...parts));
    }
    if (schema.type === 'object' && isSchema(schema.properties)) {
      const members = Object.entries(schema.properties).filter((entry): entry is [string, JsonSchema] =>
        isSchema(entry[1]),
      );
      const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
      return fc.record(Object.fromEntries(members.map(([name, member]) => [name, nearly(member, known)])), {
        requiredKeys: required,
      });
    }
    if (schema.type === 'object') return fc.dictionary(hostileText, hostileJson, { maxKeys: 4 });
    if (schema.type === 'array') {
      return fc.array(isSchema(schema.items) ? nearly(schema.items, known) : hostileJson, { maxLength: 4 });
    }
    if (schema.type === 'string') {
      return fc.oneof(
        hostileText,
        fc.constantFrom(...known),
        fc.constantFrom('2026-01-31', '2026-01-31T08:15:00Z', 'Ordinary text'),
      );
    }
    if (schema.type === 'integer' || schema.type === 'number')
      return fc.oneof(fc.integer({ min: 0, max: 100 }), hostileNumber);
    return schema.type === 'boolean' ? fc.boolean() : hostileJson;
  })();
  return fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: hostileJson });
};

const TYPES = [
  'Date',
  'undefined',
  'bigint',
  'number',
  'map',
  'set',
  'regexp',
  'Error',
  'URL',
  ['class', 'x'],
  ['custom', 'x'],
  'symbol',
];
const path = fc.oneof(
  fc.constantFrom(
    '',
    'id',
    'take',
    'a.b',
    '0',
    'length',
    '__proto__.x',
    'constructor.prototype',
    '\\',
    'a\\.b',
  ),
  hostileText,
);

/** Arbitrary superjson meta. */
export const hostileMeta: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ values: fc.dictionary(path, fc.tuple(fc.constantFrom(...TYPES)), { maxKeys: 4 }) }),
  fc.record({ values: fc.tuple(fc.constantFrom(...TYPES)), v: fc.constantFrom(0, 1, 2) }),
  fc.record({ referentialEqualities: fc.dictionary(path, fc.array(path)) }),
  hostileJson,
);

/** Text that is not JSON, or is JSON in an unusual form. */
export const hostileRaw: fc.Arbitrary<string> = fc.oneof(
  hostileText,
  fc.constantFrom(
    '{',
    '[',
    '{"json":',
    '{"json":{}}{}',
    "{'json':1}",
    '{"json":01}',
    '{"json":1e9999}',
    '{"json":NaN}',
    '{"json":{"__proto__":{"x":1}}}',
    '{"json":{"a":1,"a":2}}',
    '[[[[[[',
    '"json"',
    'true',
    '1',
    '{"meta":{}}',
    '{"json":{},"json":[]}',
    `${'['.repeat(70)}${']'.repeat(70)}`,
  ),
  hostileJson.map((json) => JSON.stringify(json)),
);
