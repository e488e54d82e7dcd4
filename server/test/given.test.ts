import { describe, expect, it } from 'vitest';
import { given, givenFields } from '../src/platform/given.ts';

describe('the given fields of an update', () => {
  it('are all except those that are undefined', () => {
    const update = { name: 'North', note: null, limit: undefined, count: 0, text: '', on: false };
    expect(given(update)).toEqual({ name: 'North', note: null, count: 0, text: '', on: false });
    expect(Object.keys(given(update))).not.toContain('limit');
    expect(givenFields(update)).toEqual(['name', 'note', 'count', 'text', 'on']);
    expect(givenFields({})).toEqual([]);
  });
});
