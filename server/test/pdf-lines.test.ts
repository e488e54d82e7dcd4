import { describe, expect, it } from 'vitest';
import { fontsOf } from '../src/reports/formats/pdf-fonts.ts';
import { createPdf, linesOf, widestPiece } from '../src/reports/formats/pdf-page.ts';

describe('the lines of a text in a PDF', () => {
  const pdf = createPdf('Lines');
  const { use, widthOf } = fontsOf(pdf);

  it.each([
    '漢字違反速度超過',
    '东京都 新宿区西新宿二丁目',
    'ひらがなとカタカナ',
    '서울특별시 강남구 테헤란로',
    'km-2/速度超過（40km/h以上）です',
    'Ring – Süd/Nord, under_the_bridge',
    '🚗👨‍👩‍👧 שלום 12%',
  ])('contain all of %s', (text) => {
    use('plain', 10);
    for (const width of [12, 30, 45, 70]) {
      const lines = linesOf(pdf, text, width);
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.join('').replaceAll(/[\s\u200e\u200f]/g, '')).toBe(text.replaceAll(/\s/g, ''));
    }
  });

  it('end after signs, and between Chinese, Japanese and Korean letters', () => {
    use('plain', 10);
    expect(linesOf(pdf, '漢字違反速度超過', 40)).toEqual(['漢字違反', '速度超過']);
    expect(widestPiece(pdf, '漢字違反速度超過')).toBe(widthOf('漢'));
    expect(linesOf(pdf, 'Ring-Süd Nord', 30)).toEqual(['Ring-', 'Süd', 'Nord']);
  });
});
