import { confusableKey, plateKey } from '@gantry/contract/plate';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsOf } from '../src/hotlists/read-lines.ts';
import { variantsOf } from '../src/hotlists/variants.ts';
import {
  differencesOf,
  type HotlistRules,
  isReleasedAtOnce,
  mayBeSameRegion,
  nearKeys,
} from '../src/watchlist/hotlist-rules.ts';
import { PlateFilter } from '../src/watchlist/plate-filter.ts';

const rules = (fields: Partial<HotlistRules> = {}): HotlistRules => ({
  tolerance: 'EXACT',
  maxDifferences: 1,
  verification: 'ALWAYS',
  minConfidence: null,
  ...fields,
});
const ALPHABET = [...'0OQD1IL8B5S2ZAX', 'А', 'О', 'Ω', '7'];
const plate = fc
  .array(fc.constantFrom(...ALPHABET), { minLength: 2, maxLength: 8 })
  .map((all) => plateKey(all.join('')));
const region = fc.constantFrom(null, 'AT', 'DE', 'US', 'US-CA', 'US-NV');

/** The distance of Levenshtein, by its definition. */
const distance = (a: readonly string[], b: readonly string[]): number => {
  const row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0] ?? 0;
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0;
      row[j] = Math.min(above + 1, (row[j - 1] ?? 0) + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1));
      diagonal = above;
    }
  }
  return row[b.length] ?? 0;
};

/** What the description of a list says, without regard to how it is looked up. */
const hits = (
  { tolerance, maxDifferences }: HotlistRules,
  listed: { plateKey: string; region: string | null; validFrom: number | null; validUntil: number | null },
  read: { plateKey: string; region: string | null; time: number },
): boolean => {
  if (read.time < (listed.validFrom ?? Number.NEGATIVE_INFINITY)) return false;
  if (read.time > (listed.validUntil ?? Number.POSITIVE_INFINITY)) return false;
  if (listed.region !== null && read.region !== null) {
    const [longer, shorter] = [listed.region, read.region].sort((a, b) => b.length - a.length);
    if (longer !== shorter && !(shorter?.length === 2 && longer?.startsWith(`${shorter}-`))) return false;
  }
  if (listed.plateKey === read.plateKey) return true;
  const [a, b] = [[...listed.plateKey], [...read.plateKey]];
  if (tolerance === 'ONE_OFF') return distance(a, b) <= 1;
  if (tolerance === 'EXACT' || a.length !== b.length) return false;
  const different = a.filter((each, at) => each !== b[at]).length;
  return (
    different <= maxDifferences && a.every((each, at) => confusableKey(each) === confusableKey(b[at] ?? ''))
  );
};

describe('whether a read hits an entry', () => {
  const entry = fc.record({
    plateKey: plate,
    region,
    validFrom: fc.option(fc.integer({ min: 0, max: 10 })),
    validUntil: fc.option(fc.integer({ min: 0, max: 10 })),
  });
  const list = fc.record({
    tolerance: fc.constantFrom('EXACT' as const, 'CONFUSABLE' as const, 'ONE_OFF' as const),
    maxDifferences: fc.constantFrom(1, 2),
  });
  /** Plates that are like the listed one, as random ones hardly ever are. */
  const similar = fc.tuple(fc.nat(), fc.nat(), fc.nat(3), fc.constantFrom(...ALPHABET));
  const changed = (key: string, [at, , how, character]: [number, number, number, string]): string => {
    const characters = [...key];
    const place = at % characters.length;
    if (how === 1) characters.splice(place, 1);
    else if (how === 2) characters.splice(place, 0, character);
    else if (how === 3) characters[place] = character;
    return characters.join('');
  };

  it('is as its list says, for plates of several scripts, regions and times', () => {
    let found = 0;
    fc.assert(
      fc.property(
        list,
        entry,
        similar,
        similar,
        region,
        fc.integer({ min: 0, max: 10 }),
        (some, listed, one, two, readRegion, time) => {
          const read = {
            plateKey: changed(changed(listed.plateKey, one), two) || 'X',
            region: readRegion,
            time,
          };
          const differences = differencesOf(rules(some), listed, read);
          expect(differences !== null).toBe(hits(rules(some), listed, read));
          if (differences !== null) found++;
          // The look-ups find everything that may be a hit.
          if (differences === null) return;
          const isNear = nearKeys(listed.plateKey).some((key) => nearKeys(read.plateKey).includes(key));
          expect(
            some.tolerance === 'ONE_OFF'
              ? isNear
              : confusableKey(listed.plateKey) === confusableKey(read.plateKey),
          ).toBe(true);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('does not depend on which of two regions is known better', () => {
    fc.assert(fc.property(region, region, (a, b) => mayBeSameRegion(a, b) === mayBeSameRegion(b, a)));
    expect([
      mayBeSameRegion('US', 'US-CA'),
      mayBeSameRegion('US-NV', 'US-CA'),
      mayBeSameRegion(null, 'DE'),
    ]).toEqual([true, false, true]);
  });

  it('lets patterns match as on the watchlist', () => {
    const listed = { plateKey: 'AB*8', region: null, validFrom: null, validUntil: null };
    const read = { plateKey: 'AB12B', region: null, time: 0 };
    expect(differencesOf(rules(), listed, read)).toBeNull();
    expect(differencesOf(rules({ tolerance: 'CONFUSABLE' }), listed, read)).toBe(0);
  });

  it('is found in past events by the spellings that are looked for, exactly', () => {
    const script = fc.constantFrom('O01L8AX57', 'О01ВХАЖЯ7', 'Ο0ΩΑΧΣ17', 'ابهو0517');
    const inScript = script.chain((letters) =>
      fc.tuple(
        fc
          .array(fc.constantFrom(...letters), { minLength: 4, maxLength: 6 })
          .map((all) => [letters[0], ...all].join('')),
        fc.tuple(fc.nat(), fc.nat(), fc.nat(3), fc.constantFrom(...letters, 'Z', '9')),
        fc.tuple(fc.nat(), fc.nat(), fc.nat(3), fc.constantFrom(...letters, 'Z', '9')),
      ),
    );
    const found = { CONFUSABLE: 0, ONE_OFF: 0, EXACT: 0 };
    fc.assert(
      fc.property(list, inScript, (some, [letters, one, two]) => {
        const key = plateKey(letters);
        const sought = variantsOf(rules(some), key);
        expect(new Set(sought).size).toBe(sought.length);
        const listed = { plateKey: key, region: null, validFrom: null, validUntil: null };
        for (const plateRead of [key, changed(key, one), changed(changed(key, one), two)]) {
          const isHit = hits(rules(some), listed, { plateKey: plateRead, region: null, time: 0 });
          expect([key, plateRead, sought.includes(plateRead)]).toEqual([key, plateRead, isHit]);
          if (isHit && plateRead !== key) found[some.tolerance]++;
        }
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(found.CONFUSABLE, found.ONE_OFF)).toBeGreaterThan(5);
  });

  it('is sought by so many spellings at most, those that differ least first', () => {
    const both = rules({ tolerance: 'CONFUSABLE', maxDifferences: 2 });
    const sought = variantsOf(both, '0O0O0O0O0O0O0O');
    expect(sought).toHaveLength(2_000);
    const differ = (one: string) => [...one].filter((each, at) => each !== '0O0O0O0O0O0O0O'[at]).length;
    expect(sought.map(differ)).toEqual(sought.map(differ).sort());
    expect(variantsOf(rules({ tolerance: 'ONE_OFF' }), 'АО123ВС77').length).toBeLessThan(2_000);
  });
});

describe('whether a hit is released at once', () => {
  const sure = { differences: 0, confidence: 90, hasImage: true };
  it.each([
    ['ALWAYS', {}, sure, false],
    ['NEVER', {}, { differences: 1, confidence: null, hasImage: false }, true],
    ['NEVER', { tolerance: 'ONE_OFF' as const }, sure, false],
    ['WHEN_UNSURE', { minConfidence: 90 }, sure, true],
    ['WHEN_UNSURE', { minConfidence: 91 }, sure, false],
    ['WHEN_UNSURE', { minConfidence: null }, sure, true],
    ['WHEN_UNSURE', {}, { ...sure, confidence: null }, false],
    ['WHEN_UNSURE', {}, { ...sure, differences: 1 }, false],
    ['WHEN_UNSURE', {}, { ...sure, hasImage: false }, false],
  ] as const)('%s %j %j: %s', (verification, fields, quality, expected) => {
    expect(isReleasedAtOnce(rules({ verification, ...fields }), quality)).toBe(expected);
  });
});

describe('the filter of listed plates', () => {
  it('knows all of a million, and takes few others for one of them', () => {
    const filter = new PlateFilter(1_000_000);
    const key = (n: number) => `W${n.toString(36).toUpperCase()}`;
    for (let n = 0; n < 1_000_000; n++) filter.add(key(n));
    let missed = 0;
    for (let n = 0; n < 1_000_000; n++) if (!filter.mayHave(key(n))) missed++;
    expect(missed).toBe(0);
    let wrong = 0;
    for (let n = 1_000_000; n < 1_200_000; n++) if (filter.mayHave(key(n))) wrong++;
    expect(wrong / 200_000).toBeLessThan(0.02);
    expect(filter.bytes).toBeLessThan(1_260_000);
  });
});

describe('the cells of a line', () => {
  it.each([
    ['a,b,', ['a', 'b', '']],
    ['"a, b","c ""d""",e', ['a, b', 'c "d"', 'e']],
    ['"a",,"', null],
    ['', ['']],
    ['x"y,z', ['x"y', 'z']],
  ])('%j are %j', (line, cells) => expect(cellsOf(line, ',')).toEqual(cells));

  it('are those that were written', () => {
    const cell = fc.string({ maxLength: 10 }).map((text) => text.replaceAll(/[\r\n]/g, ''));
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 6 }), (cells) => {
        const line = cells
          .map((text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
          .join(',');
        expect(cellsOf(line, ',')).toEqual(cells);
      }),
    );
  });
});
