import { describe, expect, it } from 'vitest';
import { figure, formatTable } from '../src/table.ts';

describe('a table', () => {
  it('is aligned text and Markdown', () => {
    const table = formatTable(
      [{ title: 'server' }, { title: 'n', figures: true }],
      [
        ['floor', 5],
        ['a longer name', 12_345],
      ],
    );
    expect(table.split('\n')).toEqual([
      '| server        |     n |',
      '|---------------|------:|',
      '| floor         |     5 |',
      '| a longer name | 12345 |',
    ]);
  });

  it('shows figures with the significant digits', () => {
    expect([12_345.6, 99.96, 12.34, 0.456, Number.NaN].map(figure)).toEqual([
      '12,346',
      '100.0',
      '12.3',
      '0.46',
      '–',
    ]);
  });
});
