import { randomUUID } from 'node:crypto';
import { caseFold } from '@gantry/contract/case-fold';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { spellingsOf } from '../src/platform/case-fold.ts';
import { sharedGantry } from './harness.ts';

// Every search in a list ignores case by the rules of languages, and names are sorted in dictionary order.
const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

/** Text that is likely to contain letters for which languages differ, and no character newer than this Node. */
const someText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'IİıiSsßẞΣσςÇçÖöŞşĞğKÅéI\u0307i\u0327'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text.isWellFormed() && !text.includes('\u0000') && !/\p{Cn}/u.test(text));

const caseFoldedByDatabase = async (texts: readonly string[]): Promise<string[]> => {
  const { rows } = await gantry.pool.query<{ value: string }>(
    'SELECT gantry_fold(one) AS value FROM unnest($1::text[]) WITH ORDINALITY AS given (one, n) ORDER BY n',
    [texts],
  );
  return rows.map(({ value }) => value);
};

describe('case-folded text', () => {
  it('is the same in the service and in the database', () =>
    fc.assert(
      fc.asyncProperty(fc.array(someText, { minLength: 50, maxLength: 50 }), async (texts) => {
        expect(await caseFoldedByDatabase(texts)).toEqual(texts.map(caseFold));
      }),
      { numRuns: 60 },
    ));

  it('treats I, İ, ı and i as one letter', () => {
    for (const text of ['ISPARTA', 'Isparta', 'ısparta', 'İSPARTA', 'i\u0307sparta'])
      expect(caseFold(text)).toBe('isparta');
    expect(caseFold('ÇINAR')).toBe(caseFold('Çınar'));
    expect(caseFold('C\u0327ınar')).toBe(caseFold('çinar'));
    expect(caseFold('ΟΔΟΣ')).toBe(caseFold('οδος'));
  });

  it('has all its spellings in lower case listed', () => {
    expect(spellingsOf('KIZILAY')).toEqual(expect.arrayContaining(['kızılay', 'kizilay', 'kızilay']));
    expect(spellingsOf('Main St')).toContain('main st');
    expect(spellingsOf('i'.repeat(200)).length).toBeLessThan(2_000);
    fc.assert(
      fc.property(someText, (text) => {
        expect(spellingsOf(text)).toContain(text.toLowerCase());
      }),
    );
  });
});

const ADDRESSES = ['ISPARTA', 'Isparta', 'ısparta', 'İsparta'];

describe('a search', () => {
  beforeAll(async () => {
    for (const [n, name] of ['ısparta Kavşağı', 'Isparta Yolu', 'ÇINAR', 'Çınar 2', '100%_x'].entries()) {
      const deviceId = `D-${n}`;
      await gantry.ok('sensors.create', { name, deviceId, type: 'CAMERA' }, { token });
      await gantry.ok('locations.create', { name, address: `${name} 1` }, { token });
      await gantry.ok('watchlist.create', { pattern: `AB${n}`, reason: name, priority: 'HIGH' }, { token });
      await gantry.ok('incidents.create', { title: name, type: 'OTHER', severity: 'LOW' }, { token });
      const user = {
        email: `u${n}@gantry.local`,
        password: 'Correct-horse-1',
        firstName: name,
        lastName: 'X',
        role: 'VIEWER',
      };
      await gantry.ok('users.create', user, { token });
    }
  });

  const LISTS = [
    ['sensors.getAll', 'sensors'],
    ['locations.getAll', 'locations'],
    ['watchlist.getAll', 'entries'],
    ['incidents.getAll', 'incidents'],
    ['users.getAll', 'users'],
  ] as const;

  it.each(LISTS)(
    'of %s ignores case by the rules of languages, and surrounding blanks',
    async (procedure, key) => {
      const found = async (search: string) => {
        const answer = await gantry.ok(procedure, { search }, { token });
        expect(answer[key]).toHaveLength(answer.total);
        return answer.total;
      };
      expect(await found('ISPARTA')).toBe(2);
      expect(await found('ısparta')).toBe(2);
      expect(await found('  ÇINAR\t')).toBe(2);
      expect(await found('çinar')).toBe(2);
      expect(await found('%_')).toBe(1);
      expect(await found('   ')).toBe((await gantry.ok(procedure, {}, { token })).total);
    },
  );

  it('of events by place and type finds every spelling', async () => {
    const apiKey = await gantry.registerSensor();
    const ids: string[] = [];
    for (const address of ADDRESSES) {
      const location = { latitude: 1, longitude: 2, address };
      const event = {
        eventType: 'TRAFFIC_VIOLATION',
        violationType: `${address} Hız`,
        vehicleType: address,
        location,
      };
      ids.push((await gantry.ok('events.ingest', { apiKey, ...event })).eventId);
    }
    const idsOf = async (filter: object) =>
      (await gantry.ok('events.getAll', { ...filter, take: 50 }, { token })).events
        .map(({ id }: { id: string }) => id)
        .sort();
    for (const name of [...ADDRESSES, 'isparta']) {
      expect(await idsOf({ locationName: name })).toEqual([...ids].sort());
      expect(await idsOf({ violationType: `${name} HIZ` })).toEqual([...ids].sort());
      expect(await idsOf({ vehicleType: name })).toEqual([...ids].sort());
    }
    expect(await idsOf({ locationName: 'ispart' })).toEqual([]);
  });
});

describe('names', () => {
  it('are in dictionary order', async () => {
    const names = [
      'Zebra',
      'ankara',
      'Ångström',
      'Émile',
      'eve',
      'Çınar',
      'Dora',
      'Cem',
      'Özlem',
      'Oya',
      'Pia',
    ];
    for (const name of names) {
      await gantry.ok('sensors.create', { name, deviceId: `N-${randomUUID()}`, type: 'RADAR' }, { token });
      await gantry.ok('locations.create', { name, address: 'sorted' }, { token });
    }
    const sorted = [
      'Ångström',
      'ankara',
      'Cem',
      'Çınar',
      'Dora',
      'Émile',
      'eve',
      'Oya',
      'Özlem',
      'Pia',
      'Zebra',
    ];
    const expected = [...sorted].sort(new Intl.Collator('und').compare);
    const bySensors = await gantry.ok(
      'sensors.getAll',
      { type: 'RADAR', sortBy: 'name', sortOrder: 'asc', take: 100 },
      { token },
    );
    expect(bySensors.sensors.map(({ name }: { name: string }) => name)).toEqual(expected);
    const byLocations = await gantry.ok(
      'locations.getAll',
      { search: 'sorted', sortBy: 'name', sortOrder: 'desc', take: 100 },
      { token },
    );
    expect(byLocations.locations.map(({ name }: { name: string }) => name)).toEqual([...expected].reverse());
  });
});
