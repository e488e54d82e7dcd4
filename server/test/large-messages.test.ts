import type { FormatName } from '@gantry/device-formats/format';
import { Mapper } from '@gantry/device-formats/mapper';
import {
  readMessage,
  refusalOf as refusalHere,
  type StoredMessage,
} from '@gantry/device-formats/read-message';
import { splitBody } from '@gantry/device-formats/split-body';
import { describe, expect, it } from 'vitest';
import { interpret, readInThread, refusalOf } from '../src/devices/read.ts';
import { mappingProgram } from '../src/platform/installation.ts';
import { useOwnMessages } from '../src/rpc/input-messages.ts';

useOwnMessages();

const messageOf = async (body: string): Promise<StoredMessage> => ({
  parts: splitBody(null, Buffer.from(body)).parts,
  path: '',
  topic: null,
  receivedAt: Date.UTC(2026, 6, 1),
});

const rulesOf = (format: FormatName, options = {}) => ({ format, timeZone: null, options });
const UTC = { zone: 'UTC', map: () => Promise.reject(new Error('there is no mapping')) };

const situations = (count: number): string => {
  const records = Array.from(
    { length: count },
    (_, n) => `<situation id="S${n}"><situationRecord id="R${n}" version="1" xsi:type="Accident">
      <situationRecordVersionTime>2026-06-30T10:00:00Z</situationRecordVersionTime><severity>high</severity>
      </situationRecord></situation>`,
  );
  return `<payload xsi:type="SituationPublication">${records.join('')}</payload>`;
};
const readings = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, n) => ({
      eventType: 'SPEED_DETECTION',
      vehicleSpeed: n % 100,
      timestamp: '2026-06-30T10:00:00Z',
      idempotencyKey: `${n}`.padStart(100, '0'),
    })),
  );

/** How often other work had a turn before the promise was resolved. */
const turnsDuring = async (pending: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await pending.finally(() => {
    isOver = true;
  });
  return turns;
};

describe('a large message', () => {
  it.each([
    ['datex2', situations(2_000), 2_000],
    ['gantry', readings(1_900), 1_900],
    ['gantry', `[${'1,'.repeat(150_000)}1]`, 0],
    ['ops243', ' '.repeat(300_000), 0],
  ] as const)('is read as a small one is: %s', async (format, body, count) => {
    const message = await messageOf(body);
    const reading = await interpret(rulesOf(format), message, UTC);
    expect(reading.reports).toHaveLength(count);
    expect(reading).toEqual(await readMessage(rulesOf(format), message, UTC));
    expect(await refusalOf(format, message)).toBe(refusalHere(format, message));
  });

  it('leaves turns to others while it is read and while it is checked, and a small one needs none', async () => {
    const [small, large] = await Promise.all([messageOf(situations(2)), messageOf(situations(2_000))]);
    expect(await turnsDuring(interpret(rulesOf('datex2'), small, UTC))).toBe(0);
    expect(await turnsDuring(interpret(rulesOf('datex2'), large, UTC))).toBeGreaterThan(10);
    expect(await turnsDuring(refusalOf('datex2', large))).toBeGreaterThan(10);
  });

  it('is given to its mapping', async () => {
    using mapper = new Mapper(mappingProgram);
    const message = await messageOf(JSON.stringify({ plates: ['A 1', 'B 2'], fill: 'x'.repeat(300_000) }));
    const rules = rulesOf('mapped', { mapping: 'body.plates.{"plate": $}' });
    const { reports, note } = await interpret(rules, message, { zone: 'UTC', map: mapper.map });
    expect(note).toBeNull();
    expect(reports.map(({ event }) => event.licensePlateNumber)).toEqual(['A 1', 'B 2']);
    await expect(interpret(rules, message, UTC)).rejects.toThrow('there is no mapping');
    expect((await interpret(rules, message, { zone: 'UTC', map: mapper.map })).reports).toHaveLength(2);
  });

  it('whose thread fails is to be read again, and the next ones are read', async () => {
    const message = await messageOf(situations(1_000));
    const broken = { ...message, parts: null } as never;
    const outcomes = await Promise.allSettled([
      readInThread(rulesOf('datex2'), broken, UTC),
      ...[1, 2].map(() => interpret(rulesOf('datex2'), message, UTC)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });
});
