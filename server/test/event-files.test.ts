import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readLines } from '../src/operations/transfer/read-lines.ts';

async function read(bytes: Buffer, chunk: number) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
    bytes.subarray(n * chunk, (n + 1) * chunk),
  );
  return Readable.from(readLines(Readable.from(chunks), 'jsonl')).toArray();
}

describe('a file of events as JSON lines', () => {
  const event = { deviceId: 'mast-1', description: 'Ring – Süd\u2028first floor\u2029🚗' };
  const line = JSON.stringify(event);

  it.each([1, 3, 1_000])('is read in parts of %s bytes', async (chunk) => {
    expect(await read(Buffer.from(`${line}\n\n${line}\r\n{\n${line}`), chunk)).toEqual([
      { line: 1, event },
      { line: 3, event },
      { line: 4, flaw: 'it is not JSON' },
      { line: 5, event },
    ]);
    expect(await read(Buffer.from('\n'), chunk)).toEqual([]);
  });

  it('may begin with a byte order mark', async () => {
    expect(await read(Buffer.from(`\uFEFF${line}\n`), 1)).toEqual([{ line: 1, event }]);
  });
});

describe('a file of events as CSV', () => {
  it('has numbers for speeds, and does not import other texts as events without a speed', async () => {
    const speeds = ['63.5', ' 7', '1e-7', '"63,5"', 'fast', ' ', '0x3F', ''];
    const text = `deviceId,vehicleSpeed\n${speeds.map((speed) => `mast-1,${speed}\n`).join('')}`;
    const lines = await Readable.from(readLines(Readable.from([Buffer.from(text)]), 'csv')).toArray();
    const deviceId = 'mast-1';
    expect(lines).toEqual([
      { line: 2, event: { deviceId, vehicleSpeed: 63.5 } },
      { line: 3, event: { deviceId, vehicleSpeed: 7 } },
      { line: 4, event: { deviceId, vehicleSpeed: 1e-7 } },
      { line: 5, flaw: 'vehicleSpeed is not a number such as 63.5: 63,5' },
      { line: 6, flaw: 'vehicleSpeed is not a number such as 63.5: fast' },
      { line: 7, flaw: 'vehicleSpeed is not a number such as 63.5:  ' },
      { line: 8, flaw: 'vehicleSpeed is not a number such as 63.5: 0x3F' },
      { line: 9, event: { deviceId } },
    ]);
  });
});
