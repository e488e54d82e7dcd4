import { describe, expect, it } from 'vitest';
import { createParameters } from '../src/ingest/insert-statements-store.ts';

describe('the parameters of a statement', () => {
  it('are numbered in the order in which they are added, and computed for each run', () => {
    const { add, valuesOf } = createParameters<{ name: string; n: number }>();
    const text = `SELECT ${add(({ name }) => name)}, ${add(({ n }) => n * 2)}, ${add(() => null)}`;
    expect(text).toBe('SELECT $1, $2, $3');
    expect(valuesOf({ name: 'North', n: 4 })).toEqual(['North', 8, null]);
    expect(valuesOf({ name: 'South', n: 0 })).toEqual(['South', 0, null]);
  });
});
