import { plateKey } from '@gantry/contract/plate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formerPlateKey, plateFilter } from '../src/events/matches.ts';

const anyCharacter = fc.constantFrom(...'ab1ÄäßИ東*%_\\.-– \u00a0'.split(''));
const anyPlate = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: anyCharacter, maxLength: 12 }));

const everyCharacter = Array.from({ length: 0x2_0000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point >= 0xe000)
  .map((point) => String.fromCodePoint(point));

/** The meaning of `LIKE pattern ESCAPE '\'` by PostgreSQL's documentation. */
const like = (text: string, pattern: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern.startsWith('%')) {
    return like(text, pattern.slice(1)) || (text !== '' && like(text.slice(1), pattern));
  }
  const width = pattern.startsWith('\\') ? 2 : 1;
  if (text === '') return false;
  if (pattern.startsWith('_')) return like(text.slice(1), pattern.slice(1));
  return text[0] === pattern[width - 1] && like(text.slice(1), pattern.slice(width));
};

describe('plateKey', () => {
  it.each([
    ['B-GX 1234', 'BGX1234'],
    ['b gx‑1234', 'BGX1234'],
    [' wi\u00a0–\tx 7 ', 'WIX7'],
    ['мо 77-АВ', 'МО77АВ'],
    ['品川 500 さ 20-46', '品川500さ2046'],
    ['MÜ-ß 1', 'MÜSS1'],
    ['A_B%C\\D', 'ABCD'],
    ['\u202a١٢٣\u200f أبج\u202c', '123أبج'],
    ['12\u200b34\u00ad5\u2066', '12345'],
    ['34·ABC•123', '34ABC123'],
    ['34.ABC:123/4_5−6|7', '34ABC1234567'],
    ["34'ABC, (123)", '34ABC123'],
    ['３４ ＡＢＣ １２３', '34ABC123'],
    ['۳۴ ABC ۱۲۳', '34ABC123'],
    ['३४ ABC १२३', '34ABC123'],
    ['৩৪ ABC ๑๒๓', '34ABC123'],
    ['\u{1d7db}\u{1e954}', '34'],
    ['İı i̇ iI', 'IIIII'],
    ['１２ هـ ３٤', '12ه34'],
    ['京A・12ー34', '京A1234'],
    ['ⅷ①½', 'VIII112'],
    ['AB?12', 'AB?12'],
    ['AB\ufffd12', 'AB\ufffd12'],
    ['3\ufe0f4\u034fA', '34A'],
    ['---', ''],
  ])('makes %j the key %j', (plate, key) => {
    expect(plateKey(plate)).toBe(key);
  });

  it('does not change a key', () => {
    fc.assert(
      fc.property(anyPlate, (plate) => {
        expect(plateKey(plateKey(plate))).toBe(plateKey(plate));
      }),
    );
  });

  it('ignores blanks and hyphens at any position', () => {
    const gap = fc.constantFrom('', ' ', '-', ' - ', '\u00a0', '–');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'grapheme-ascii' }), gap)), (parts) => {
        const without = parts.map(([text]) => text).join('');
        expect(plateKey(parts.flat().join(''))).toBe(plateKey(without));
      }),
    );
  });

  it('is a key that neither LIKE nor a separator can have a part in, for every character', () => {
    const keys = everyCharacter.map(plateKey);
    expect(keys.filter((key) => plateKey(key) !== key)).toEqual([]);
    expect(
      keys.filter((key) => /[\s\p{P}\p{S}\p{Cf}\p{Nd}%_\\-]/u.test(key.replace(/[0-9*?\ufffd]/g, ''))),
    ).toEqual([]);
  });

  it('gives the ten digits of every script their values', () => {
    const digits = everyCharacter.filter((character) => /\p{Nd}/u.test(character));
    expect(digits.length).toBeGreaterThan(600);
    expect(digits.map(plateKey).join('')).toBe('0123456789'.repeat(digits.length / 10));
  });

  it('follows from the key of the former rules, so that stored keys suffice to renew them', () => {
    expect(everyCharacter.filter((each) => plateKey(formerPlateKey(each)) !== plateKey(each))).toEqual([]);
    fc.assert(
      fc.property(anyPlate, (plate) => {
        expect(plateKey(formerPlateKey(plate))).toBe(plateKey(plate));
      }),
    );
  });

  it('is at most a few times as long as the plate, as indexes require', () => {
    expect(everyCharacter.filter((character) => plateKey(character).length > 6)).toEqual([]);
  });

  it('ignores case and composition for every letter', () => {
    const apart: string[] = [];
    for (let point = 1; point < 0x2_0000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const letter = String.fromCodePoint(point);
      const forms = [
        letter.toLowerCase(),
        letter.toUpperCase(),
        letter.normalize('NFC'),
        letter.normalize('NFD'),
      ];
      if (forms.some((form) => plateKey(form) !== plateKey(letter))) apart.push(letter);
    }
    expect(apart).toEqual([]);
  });
});

describe('plateFilter', () => {
  it('without an asterisk is the key itself', () => {
    expect(plateFilter('b-gx_1%\\')).toEqual({ equals: 'BGX1' });
  });

  it('turns asterisks into wildcards and takes everything else literally', () => {
    expect(plateFilter('b-*12*')).toEqual({ like: 'B%12%' });
    expect(plateFilter('**')).toEqual({ like: '%' });
    expect(plateFilter('50%_\\*')).toEqual({ like: '50%' });
    expect(plateFilter('50%_\\*', formerPlateKey)).toEqual({ like: '50\\%\\_\\\\%' });
  });

  it('searches a plate backwards if only its end is given', () => {
    expect(plateFilter('*a-%12')).toEqual({ backwardsLike: '21A%' });
    expect(plateFilter('*a-%12', formerPlateKey)).toEqual({ backwardsLike: '21\\%A%' });
    expect(plateFilter('**4')).toEqual({ backwardsLike: '4%' });
    const plain = anyPlate.filter((text) => !text.includes('*') && plateKey(text) !== '');
    fc.assert(
      fc.property(plain, plain, (plate, end) => {
        const filter = plateFilter(`*${end}`);
        const backwards = [...plateKey(plate)].reverse().join('');
        expect('backwardsLike' in filter && like(backwards, filter.backwardsLike)).toBe(
          plateKey(plate).endsWith(plateKey(end)),
        );
      }),
    );
  });

  it('finds a plate by any part of it and no other text', () => {
    const plain = anyPlate.filter((text) => !text.includes('*'));
    fc.assert(
      fc.property(plain, plain, plain, (before, sought, after) => {
        const filter = plateFilter(`*${sought}*`);
        const matches = (plate: string) => 'like' in filter && like(plateKey(plate), filter.like);
        // The key of the whole need not contain the key of the part where letters combine (a base and its accent).
        const whole = plateKey(before) + plateKey(sought) + plateKey(after);
        expect('like' in filter && like(whole, filter.like)).toBe(true);
        expect(matches(after)).toBe(plateKey(after).includes(plateKey(sought)));
      }),
    );
  });
});
