import { expect, it } from 'vitest';
import { loadAllRows } from '../src/shared/table/export.ts';

it('an export has every row that stays in the list while it is read', async () => {
  let list = Array.from({ length: 250 }, (_, n) => n);
  const { rows } = await loadAllRows<number>(
    {
      keyOf: String,
      load: async ({ skip, take }) => {
        const answer = { rows: list.slice(skip, skip + take), total: list.length };
        // After each request, the first 40 rows leave the list, and a new row is added at the top.
        list = [1_000 + list.length, ...list.slice(40)];
        return answer;
      },
    },
    () => undefined,
    new AbortController().signal,
  );
  expect(rows).toEqual(expect.arrayContaining(list.filter((row) => row < 250)));
});
