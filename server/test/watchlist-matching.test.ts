import { confusableKey, plateKey } from '@gantry/contract/plate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../src/events/matches.ts';
import { createPlateMatcher, isValidAt, type WatchedEntry } from '../src/watchlist/matching.ts';
import { processorMs } from './processor-time.ts';

const entryOf = (pattern: string, fields: Partial<WatchedEntry> = {}): WatchedEntry => ({
  id: pattern,
  pattern,
  reason: 'Stolen',
  priority: 'HIGH',
  validFrom: null,
  validUntil: null,
  fuzzy: false,
  ...fields,
});
const matches = (pattern: string, plate: string, fuzzy = false): boolean =>
  createPlateMatcher([entryOf(pattern, { fuzzy })])(plateKey(plate)).length === 1;

const GROUPS = ['0OQD', '1IL', '8B', '5S', '2Z'];
const confusedWith = (character: string): string[] => [
  ...(GROUPS.find((group) => group.includes(character)) ?? character),
];

const plateCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const plate = fc.string({ unit: fc.constantFrom(...plateCharacters), minLength: 2, maxLength: 12 });
const gap = fc.constantFrom('', '', ' ', '-', ' – ', '\u00a0');
/** The plate in another spelling: in another case, with blanks and hyphens anywhere. */
const written = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...[...text].map((character) => fc.tuple(gap, fc.constantFrom(character, character.toLowerCase()))),
    )
    .map((parts) => parts.flat().join(''));
/** The plate as a camera may misread it. */
const misread = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(...[...text].map((character) => fc.constantFrom(...confusedWith(character))))
    .map((parts) => parts.join(''));

describe('a pattern without an asterisk', () => {
  it('matches its plate whatever the case, blanks and hyphens, fuzzy or not', () => {
    const pairs = plate.chain((text) => fc.tuple(written(text), written(text), fc.boolean()));
    fc.assert(fc.property(pairs, ([pattern, read, fuzzy]) => matches(pattern, read, fuzzy)));
  });

  it('matches no other plate', () => {
    fc.assert(
      fc.property(plate, plate, (pattern, read) => {
        expect(matches(pattern, read)).toBe(pattern === read);
      }),
    );
  });

  it.each([
    ['AB 123', 'AB 1234'],
    ['AB 123', 'AB 12'],
    ['AB 123', 'XAB 123'],
    ['AB 123', ''],
    ['AB 123', 'AB?123'],
    ['AB 123', 'ÄB 123'],
  ])('%j does not match %j', (pattern, read) => {
    expect(matches(pattern, read)).toBe(false);
    expect(matches(pattern, read, true)).toBe(false);
  });
});

describe('a fuzzy pattern', () => {
  it('matches every confusion of its characters, in pattern and plate', () => {
    const pairs = plate.chain((text) => fc.tuple(misread(text), misread(text)));
    fc.assert(fc.property(pairs, ([pattern, read]) => matches(pattern, read, true)));
  });

  it('matches single confusions, and no other substitution', () => {
    for (const character of plateCharacters) {
      const accepted = [...plateCharacters].filter((read) => matches(`X${character}7`, `X${read}7`, true));
      expect(accepted.sort(), character).toEqual(confusedWith(character).sort());
    }
  });

  it('is necessary for that: any substitution prevents a pattern that is not fuzzy from matching', () => {
    const pairs = plate.chain((text) => fc.tuple(fc.constant(text), misread(text)));
    fc.assert(
      fc.property(pairs, ([pattern, read]) => {
        expect(matches(pattern, read)).toBe(pattern === read);
        expect(matches(`${pattern}*`, `${read}XY`)).toBe(pattern === read);
      }),
    );
  });

  it.each([
    ['O', 'Ö', 'O with two dots'],
    ['0', 'Ø', 'O with a stroke'],
    ['L', 'Ł', 'L with a stroke'],
    ['S', 'Š', 'S with a caron'],
    ['Z', 'Ž', 'Z with a caron'],
    ['D', 'Đ', 'D with a stroke'],
  ])('does not confuse %s with %s (%s)', (character, other) => {
    for (const [pattern, read] of [
      [character, other],
      [other, character],
    ]) {
      expect(matches(`AK ${pattern} 77`, `AK ${read} 77`, true)).toBe(false);
      expect(matches(`*${pattern}7*`, `AK ${read} 77`, true)).toBe(false);
    }
  });

  it.each([
    ['ABEKMHOPCTYX', 'АВЕКМНОРСТУХ', 'Cyrillic'],
    ['ABEZHIKMNOPTYX', 'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'Greek'],
    ['IJSЇ', 'ІЈЅÏ', 'Ukrainian and Macedonian'],
    ['ЗО7', '3O7', 'Cyrillic Ze'],
    ['AO8', 'ΑО8', 'Greek and Cyrillic'],
    ['ГП12', 'ΓΠ12', 'Cyrillic and Greek'],
    ['12ی34', '12ٮ34', 'Arabic without dots'],
    ['ی12', 'ي12', 'Persian and Arabic Yeh'],
    ['ک12', 'ك12', 'Persian and Arabic Kaf'],
  ])('matches %s and %s (%s) in both directions, also in a part', (one, other) => {
    for (const [pattern, read] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(matches(pattern, read, true)).toBe(true);
      expect(matches(`${pattern}*`, `${read}99`, true)).toBe(true);
      expect(matches(`*${pattern}`, `99${read}`, true)).toBe(true);
      expect(matches(pattern, read)).toBe(false);
    }
  });

  it('leaves one character of each group, whatever of another script looks like it', () => {
    expect(GROUPS.map((group) => new Set([...group].map(confusableKey)).size)).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(GROUPS.map(confusableKey)).size).toBe(GROUPS.length);
    const apart: string[] = [];
    for (let point = 1; point < 0x2_0000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const like = confusableKey(plateKey(String.fromCodePoint(point)));
      if (confusableKey(like) !== like) apart.push(String.fromCodePoint(point));
    }
    expect(apart).toEqual([]);
  });
});

describe('an asterisk', () => {
  it('stands for any sequence of characters, also an empty one, at both ends and within', () => {
    const pairs = fc
      .tuple(
        fc.array(plate, { minLength: 1, maxLength: 4 }),
        plate,
        plate,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
      )
      .chain(([parts, before, after, open, close, fuzzy]) => {
        const pattern = `${open ? '*' : ''}${parts.join('*')}${close ? '*' : ''}`;
        const seen = `${open ? before : ''}${parts.join(after)}${close ? after : ''}`;
        return fc.tuple(written(pattern), fuzzy ? misread(seen) : written(seen), fc.constant(fuzzy));
      });
    fc.assert(fc.property(pairs, ([pattern, read, fuzzy]) => matches(pattern, read, fuzzy)));
  });

  it.each([
    ['AB*', 'AB', true],
    ['AB*', 'AB1', true],
    ['AB*', 'XAB1', false],
    ['*12', '12', true],
    ['*12', 'AB12', true],
    ['*12', 'AB123', false],
    ['*B1*', 'AB12', true],
    ['*B1*', 'AB', false],
    ['A*A', 'A', false],
    ['A*A', 'AA', true],
    ['AB*BA', 'ABA', false],
    ['AB**12', 'AB-12', true],
    ['*A*B*', 'BA', false],
    ['*A*B*', 'CACBC', true],
    ['A.*', 'AB', true],
    ['A.*', 'A.B', true],
    ['(A[0-9]+)*', 'A1', false],
    ['(A[0-9]+)*', '(A[0-9]+)X', true],
    ['$^*|', '$^A|', true],
    ['品川*46', '品川 500 さ 20-46', true],
    ['*😀', 'A😀', true],
    ['*😀', 'A😁', true],
  ])('%j and %j: %s', (pattern, read, expected) => {
    expect(matches(pattern, read)).toBe(expected);
    expect(matches(pattern, read, true)).toBe(expected);
  });
});

describe('the list', () => {
  // Few characters, so that patterns and plates often match; among them some that are special in regular expressions,
  // indexes and UTF-16.
  const unit = fc.constantFrom(...'AB0O1I8Z.$^(*[\\ÖО品'.split(''), '😀', '😁', '\u0308');
  const text = (most: number) => fc.string({ unit, minLength: 1, maxLength: most });
  const entries = fc
    .array(
      fc.tuple(
        fc.array(text(4), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('*')),
        fc.boolean(),
      ),
      { maxLength: 30 },
    )
    .map((list) => list.map(([pattern, fuzzy], n) => entryOf(pattern, { id: String(n), fuzzy })));

  const matchesNaively = ({ pattern, fuzzy }: WatchedEntry, key: string): boolean =>
    fuzzy
      ? matchesPattern(confusableKey(plateKey(pattern)))(confusableKey(key))
      : matchesPattern(plateKey(pattern))(key);
  const ids = (list: readonly WatchedEntry[]): string[] => list.map(({ id }) => id).sort();

  it('finds by its index exactly what a search of all entries finds', () => {
    let met = 0;
    fc.assert(
      fc.property(entries, fc.array(text(10), { minLength: 1, maxLength: 20 }), (list, texts) => {
        const match = createPlateMatcher(list);
        const filled = list.map(({ pattern }, n) => pattern.replaceAll('*', texts[n % texts.length] ?? ''));
        for (const key of [...texts, ...filled].map(plateKey)) {
          const expected = list.filter((entry) => matchesNaively(entry, key));
          met += expected.length;
          expect(ids(match(key))).toEqual(ids(expected));
        }
      }),
      { numRuns: 500 },
    );
    expect(met).toBeGreaterThan(1_000);
  });

  it('returns each of several matching entries once', () => {
    const list = ['ABAB', 'AB*', '*AB', '*AB*', '*A*B*', 'A*', 'XX'].map((pattern) => entryOf(pattern));
    expect(ids(createPlateMatcher(list)('ABAB'))).toEqual(
      ['ABAB', 'AB*', '*AB', '*AB*', '*A*B*', 'A*'].sort(),
    );
    const twins = [entryOf('AB1', { id: 'one' }), entryOf('ab-1', { id: 'two' })];
    expect(ids(createPlateMatcher(twins)('AB1'))).toEqual(['one', 'two']);
  });

  it('finds nothing when it is empty, and nothing for a plate without characters', () => {
    expect(createPlateMatcher([])('AB1')).toEqual([]);
    expect(createPlateMatcher([entryOf('AB*'), entryOf('AB1')])('')).toEqual([]);
  });

  it('works for long plates and unfavourable lists', async () => {
    const list = Array.from({ length: 10_000 }, (_, n) =>
      entryOf(`*${'A*'.repeat(20)}${n}`, { fuzzy: true }),
    );
    const match = createPlateMatcher(list);
    const work = await processorMs(() => {
      for (let n = 0; n < 100; n++) match('A'.repeat(100));
    });
    expect(work).toBeLessThan(5_000);
  });
});

describe('isValidAt', () => {
  it.each([
    [null, null, [1, 1, 1, 1, 1]],
    [20, null, [0, 1, 1, 1, 1]],
    [null, 40, [1, 1, 1, 1, 0]],
    [20, 40, [0, 1, 1, 1, 0]],
    [30, 30, [0, 0, 1, 0, 0]],
  ])('from %s until %s, both included', (validFrom, validUntil, expected) => {
    const entry = entryOf('AB1', { validFrom, validUntil });
    expect([19, 20, 30, 40, 41].map((time) => Number(isValidAt(entry, time)))).toEqual(expected);
  });
});
