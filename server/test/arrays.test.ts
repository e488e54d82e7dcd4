import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doubleArray, smallintArray, textArray, uuidArray } from '../src/platform/database/arrays.ts';
import { createTestDatabase } from './harness.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const same = <Value>(value: Value): Value => value;
const read = async (type: string, bytes: Buffer): Promise<unknown> =>
  (await client.query(`SELECT $1::${type}[] AS read`, [bytes])).rows[0].read;

const listOf = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value), { maxLength: 40 });
/** Text that PostgreSQL can store. */
const text = fc
  .string({ unit: 'binary' })
  .filter((value) => !value.includes('\u0000') && value.isWellFormed());

describe('arrays in binary form', () => {
  it('of texts are restored, in every script, with nulls, and empty', async () => {
    await fc.assert(
      fc.asyncProperty(listOf(text), async (values) => {
        expect(await read('text', textArray(values, same))).toEqual(values);
      }),
    );
  });

  it('of UUIDs are restored', async () => {
    await fc.assert(
      fc.asyncProperty(listOf(fc.uuid()), async (values) => {
        expect(await read('uuid', uuidArray(values, same))).toEqual(values);
      }),
    );
    const mixed = 'ABCDEF01-2345-6789-abcd-EF0123456789';
    expect(await read('uuid', uuidArray([mixed], same))).toEqual([mixed.toLowerCase()]);
  });

  it('of numbers are restored', async () => {
    await fc.assert(
      fc.asyncProperty(listOf(fc.integer({ min: -32_768, max: 32_767 })), async (values) => {
        expect(await read('smallint', smallintArray(values, same))).toEqual(values);
      }),
    );
    const finite = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((value) => !Object.is(value, -0));
    await fc.assert(
      fc.asyncProperty(listOf(finite), async (values) => {
        expect(await read('double precision', doubleArray(values, same))).toEqual(values);
      }),
    );
  });
});
