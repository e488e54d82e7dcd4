import type { Hit, HitDetail } from '@gantry/contract/hits';
import type { Hotlist, HotlistEntry, HotlistImport, HotlistLookBack } from '@gantry/contract/hotlists';
import { plateKey } from '@gantry/contract/plate';
import type { RetentionPreview, RetentionRun, StorageStats } from '@gantry/contract/storage';
import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { removeHitsDue } from '../src/watchlist/hits-store.ts';
import { differencesOf } from '../src/watchlist/hotlist-rules.ts';
import { eventually, sharedGantry, untilBegun } from './harness.ts';
import { png } from './sample-images.ts';
import { openStream } from './sse.ts';

type Json<Thing> = { [Field in keyof Thing]: Thing[Field] extends Date ? string : Thing[Field] };

const gantry = await sharedGantry({
  overrides: { timings: { sweepHotlistJobsMs: 50, sweepHotlistsMs: 100, hotlistChangeMs: [50, 200] } },
});
const admin = await gantry.tokenFor('ADMIN');
const token = await gantry.tokenFor('OPERATOR');
const field = await gantry.tokenFor('FIELD');
const apiKey = await gantry.registerSensor();
const otherKey = await gantry.registerSensor();

let count = 0;
/** A plate that no other test uses. */
const newPlate = (): string => `HL ${++count} XY`;
const ok = <Output>(procedure: string, input?: unknown, as = token): Promise<Output> =>
  gantry.ok(procedure, input, { token: as });
const createList = (fields: object = {}, as = token) =>
  ok<Json<Hotlist>>('hotlists.create', { name: `List ${++count}`, ...fields }, as);
const list = (hotlistId: string, plate: string, fields: object = {}) =>
  ok<Json<HotlistEntry>>('hotlists.addEntry', { hotlistId, plate, reason: 'Stolen', ...fields });
const read = (licensePlateNumber: string, fields: object = {}, by = apiKey) =>
  gantry.ingest(by, { eventType: 'PLATE_RECOGNITION', licensePlateNumber, ...fields });
/** Waits until the effects of every stored read are there. */
const followedUp = () =>
  eventually(
    () => gantry.count('events_to_follow_up'),
    (left) => left === 0,
  );
const hitsOf = async (hotlistId: string, as = token): Promise<Json<Hit>[]> => {
  await followedUp();
  return (await ok<{ hits: Json<Hit>[] }>('hits.getAll', { hotlistId, sortOrder: 'asc' }, as)).hits;
};
const theHit = async (hotlistId: string): Promise<Json<Hit>> => {
  const [hit, ...others] = await hitsOf(hotlistId);
  expect(others).toEqual([]);
  if (!hit) throw new Error('There is no hit');
  return hit;
};

describe('a read of a listed plate', () => {
  it('is a hit that keeps what the entry said, and is released when a person confirms it', async () => {
    const plate = newPlate();
    const { id: hotlistId } = await createList({ priority: 'HIGH' });
    const entry = await list(hotlistId, plate, {
      reference: 'Case 17',
      region: 'at',
      extra: { colour: 'red' },
    });
    expect(entry).toMatchObject({ plate, region: 'AT', sinceVersion: 1 });
    const eventId = await read(plate.toLowerCase());
    const hit = await theHit(hotlistId);
    expect(hit).toMatchObject({
      entryId: entry.id,
      eventId,
      kind: 'LIVE',
      priority: 'HIGH',
      reason: 'Stolen',
      reference: 'Case 17',
      listedPlate: plate,
      listedRegion: 'AT',
      licensePlateNumber: plate.toLowerCase(),
      differences: 0,
      state: 'NEW',
      releasedAt: null,
      sightings: 1,
    });
    expect(await hitsOf(hotlistId, field)).toEqual([]);
    const seen = async () =>
      (await ok<{ total: number }>('watchlist.getAlerts', { entryId: entry.id }, field)).total;
    expect(await seen()).toBe(0);
    expect(await gantry.refusal('watchlist.getAlert', { id: hit.id }, { token: admin })).toMatchObject({
      status: 404,
    });

    const confirmed = await ok<Json<Hit>>('hits.confirm', { id: hit.id, note: 'Same car' });
    expect(confirmed).toMatchObject({
      state: 'CONFIRMED',
      note: 'Same car',
      decidedBy: { name: 'OPERATOR Tester' },
    });
    expect(await hitsOf(hotlistId, field)).toMatchObject([{ id: hit.id, state: 'CONFIRMED' }]);
    expect(await seen()).toBe(1);
    const detail = await ok('hits.getById', { id: hit.id });
    expect(detail).toMatchObject({
      listed: { extra: { colour: 'red' }, version: 1 },
      history: [{ action: 'CONFIRM', note: 'Same car', by: { name: 'OPERATOR Tester' } }],
    });
    const late = await gantry.refusal('hits.reject', { id: hit.id, code: 'MISREAD' }, { token: admin });
    expect(late).toMatchObject({
      status: 409,
      message: expect.stringContaining('OPERATOR Tester confirmed this hit'),
    });
  });

  it('is counted as a sighting within the repeat time, at any sensor, but not after a rejection', async () => {
    const plate = newPlate();
    const { id: hotlistId } = await createList({ repeatMinutes: 10 });
    await list(hotlistId, plate);
    const now = Date.now() - 60 * 60_000;
    const at = (minutes: number) => ({ timestamp: new Date(now + minutes * 60_000).toISOString() });
    await read(plate, at(0));
    await followedUp();
    await read(plate, at(9), otherKey);
    await followedUp();
    await read(plate, at(18));
    expect(await hitsOf(hotlistId)).toMatchObject([{ sightings: 3, lastSeenAt: at(18).timestamp }]);
    await read(plate, at(29));
    const [first, second] = await hitsOf(hotlistId);
    expect([first?.sightings, second?.sightings]).toEqual([3, 1]);
    const { sightingEvents } = await ok<{ sightingEvents: object[] }>('hits.getById', { id: first?.id });
    expect(sightingEvents).toHaveLength(2);
    await ok('hits.reject', { id: second?.id, code: 'OTHER_VEHICLE' });
    await read(plate, at(30));
    expect(await hitsOf(hotlistId)).toMatchObject([
      { sightings: 3 },
      { state: 'REJECTED' },
      { state: 'NEW', sightings: 1 },
    ]);
  });
});

describe('a search for a plate in all lists', () => {
  const find = (plate: string, as = token, fields: object = {}) =>
    ok<{ entries: { hotlistName: string; plate: string }[]; total: number }>(
      'hotlists.findEntries',
      { plate, ...fields },
      as,
    );

  it('finds what is in force in the lists that the user sees, and is recorded', async () => {
    const plate = newPlate();
    const [open, covert] = [await createList(), await createList({ covert: true }, admin)];
    const { id } = await list(open.id, plate);
    await ok('hotlists.addEntry', { hotlistId: covert.id, plate, reason: 'Wanted' }, admin);
    const asTyped = plate.toLowerCase().replaceAll(' ', '-');
    expect(await find(asTyped, token, { reason: 'Case 45' })).toMatchObject({
      entries: [{ hotlistId: open.id, hotlistName: open.name, plate, reason: 'Stolen' }],
      total: 1,
    });
    const { rows } = await gantry.pool.query<{ details: object }>(
      `SELECT details FROM activity WHERE action = 'events.lookUpPlate' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows[0]?.details).toEqual({ plate: asTyped, reason: 'Case 45', total: 1 });
    expect((await find(plate, admin)).entries.map(({ hotlistName }) => hotlistName).sort()).toEqual(
      [open.name, covert.name].sort(),
    );
    await ok('hotlists.endEntry', { id, hotlistId: open.id });
    expect(await find(plate)).toMatchObject({ entries: [], total: 0 });
    await ok('hotlists.delete', { id: covert.id }, admin);
    expect(await find(plate, admin)).toMatchObject({ entries: [], total: 0 });
  });
});

describe('the tolerance of a list', () => {
  it('decides which reads hit, also after it is changed, and patterns match in memory', async () => {
    const { id } = await createList({ repeatMinutes: 0 });
    await list(id, 'ZQ 4711');
    await list(id, 'ZQ 99*');
    const plates = ['ZQ 4711', 'ZO 4711', 'ZQ 471', 'ZQ 47X1', 'ZQ 990', '2Q 990'];
    const hit = async () => {
      const ids: unknown[] = [];
      for (const plate of plates) ids.push(await read(plate));
      // A change of the list also finds the reads of the last minutes.
      return (await hitsOf(id))
        .filter(({ eventId }) => ids.includes(eventId))
        .map(({ licensePlateNumber: plate, differences }) => `${plate} ${differences}`);
    };
    expect(await hit()).toEqual(['ZQ 4711 0', 'ZQ 990 0']);
    await ok('hotlists.update', { id, tolerance: 'CONFUSABLE' });
    expect(await hit()).toEqual(['ZQ 4711 0', 'ZO 4711 1', 'ZQ 990 0', '2Q 990 0']);
    await ok('hotlists.update', { id, tolerance: 'ONE_OFF', verification: 'NEVER' });
    expect(await hit()).toEqual(['ZQ 4711 0', 'ZO 4711 1', 'ZQ 471 1', 'ZQ 47X1 1', 'ZQ 990 0', '2Q 990 0']);
    expect((await hitsOf(id)).filter(({ releasedAt }) => releasedAt !== null)).toEqual([]);
    await ok('hotlists.update', { id, isActive: false });
    expect(await hit()).toEqual([]);
  });
});

describe('a read with a region', () => {
  it('hits entries of the same region, or of none, and is released at once if it is sure', async () => {
    const plate = newPlate();
    const { id } = await createList({ verification: 'WHEN_UNSURE', minConfidence: 80, repeatMinutes: 0 });
    await list(id, plate, { region: 'US-CA' });
    const images = [png().toString('base64')];
    await read(plate, { plateRegion: 'US-NV', plateConfidence: 99, images });
    expect(await hitsOf(id)).toEqual([]);
    await read(plate, { plateRegion: 'US', plateConfidence: 80, images });
    await read(plate, { plateRegion: 'US-CA', plateConfidence: 79, images });
    await read(plate, { plateRegion: 'US-CA', plateConfidence: 90 });
    await read(plate, { images });
    const hits = await hitsOf(id);
    expect(
      hits.map(({ readRegion, confidence, releasedAt }) => [readRegion, confidence, releasedAt !== null]),
    ).toEqual([
      ['US', 80, true],
      ['US-CA', 79, false],
      ['US-CA', 90, false],
      [null, null, false],
    ]);
  });
});

describe('who sees a hit', () => {
  it.each([
    // The list is covert, the hit released: who sees it in hits.getAll, and whether it is an alert.
    { covert: false, isReleased: false, seenBy: ['ADMIN', 'OPERATOR'], isAlert: false },
    { covert: false, isReleased: true, seenBy: ['ADMIN', 'OPERATOR', 'FIELD'], isAlert: true },
    { covert: true, isReleased: false, seenBy: ['ADMIN'], isAlert: false },
    { covert: true, isReleased: true, seenBy: ['ADMIN'], isAlert: false },
    { covert: true, isReleased: true, visibleTo: ['FIELD'], seenBy: ['ADMIN', 'FIELD'], isAlert: false },
    { covert: true, isReleased: false, visibleTo: ['FIELD'], seenBy: ['ADMIN'], isAlert: false },
    {
      covert: true,
      isReleased: false,
      visibleTo: ['OPERATOR'],
      seenBy: ['ADMIN', 'OPERATOR'],
      isAlert: false,
    },
    {
      covert: true,
      isReleased: true,
      isOwnedByOperator: true,
      seenBy: ['ADMIN', 'OPERATOR'],
      isAlert: false,
    },
  ])('%j', async ({ covert, isReleased, visibleTo = [], isOwnedByOperator = false, seenBy, isAlert }) => {
    const plate = newPlate();
    const { id: hotlistId } = await createList(
      { covert, visibleTo, verification: isReleased ? 'NEVER' : 'ALWAYS' },
      isOwnedByOperator ? token : admin,
    );
    const streams = await Promise.all(
      [admin, token, field].map((who) => openStream(gantry.url, 'hits.onHit', { token: who })),
    );
    const alerts = await openStream(gantry.url, 'watchlist.onAlert', { token: admin });
    const all = await openStream(gantry.url, 'live.onAny', { token: field });
    await Promise.all([...streams, alerts, all].map(untilBegun));
    const entry = await ok<{ id: string }>(
      'hotlists.addEntry',
      { hotlistId, plate, reason: 'Stolen' },
      admin,
    );
    await read(plate);
    const who: Record<string, string> = { ADMIN: admin, OPERATOR: token, FIELD: field };
    const [hit] = await hitsOf(hotlistId, admin);
    for (const role of ['ADMIN', 'OPERATOR', 'FIELD']) {
      const isSeen = seenBy.includes(role);
      expect([role, (await hitsOf(hotlistId, who[role])).length]).toEqual([role, isSeen ? 1 : 0]);
      const { status } = await gantry.call('hits.getById', { id: hit?.id }, { token: who[role] ?? '' });
      expect([role, status]).toEqual([role, isSeen ? 200 : 404]);
      const { groups } = await ok<{ groups: { key: string }[] }>('hits.getStats', { by: 'list' }, who[role]);
      expect([role, groups.some(({ key }) => key === hotlistId)]).toEqual([role, isSeen]);
      if (role === 'FIELD') continue;
      const lists = await gantry.call('hotlists.getById', { id: hotlistId }, { token: who[role] ?? '' });
      expect([role, lists.status === 200]).toEqual([role, isSeen || !covert || visibleTo.includes(role)]);
    }
    const { total } = await ok<{ total: number }>('watchlist.getAlerts', { entryId: entry.id }, admin);
    expect(total).toBe(isAlert ? 1 : 0);
    expect((await gantry.call('watchlist.acknowledgeAlert', { id: hit?.id }, { token: admin })).status).toBe(
      isAlert ? 200 : 404,
    );
    // A later alert of the watchlist, that everybody sees, ends the wait.
    const last = newPlate();
    const { id: lastId } = await ok<{ id: string }>('watchlist.create', { pattern: last, reason: 'End' });
    await read(last);
    const about = (messages: readonly { data: unknown }[], text: string) =>
      messages.some(({ data }) => JSON.stringify(data).includes(text));
    await eventually(
      async () => [alerts, all].every(({ messages }) => about(messages, lastId)),
      (ended) => ended,
    );
    expect(about(alerts.messages, entry.id)).toBe(isAlert);
    expect(
      about(
        all.messages.filter(({ data }) => data.type === 'hits'),
        entry.id,
      ),
    ).toBe(seenBy.includes('FIELD'));
    for (const [index, role] of ['ADMIN', 'OPERATOR', 'FIELD'].entries()) {
      expect([role, about(streams[index]?.messages ?? [], entry.id)]).toEqual([role, seenBy.includes(role)]);
    }
    for (const stream of [...streams, alerts, all]) stream.close();
  });

  it('is nobody by an undone acknowledgement, once the list is covert', async () => {
    const plate = newPlate();
    const { id: hotlistId } = await createList({ verification: 'NEVER' }, admin);
    await list(hotlistId, plate);
    await read(plate);
    const { id } = await theHit(hotlistId);
    await ok('watchlist.acknowledgeAlert', { id });
    await ok('hotlists.update', { id: hotlistId, covert: true }, admin);
    const alerts = await openStream(gantry.url, 'watchlist.onAlert', { token: field });
    await untilBegun(alerts);
    const { results } = await ok<{ results: object[] }>('watchlist.undoAcknowledgeAlertBatch', { ids: [id] });
    expect(results).toMatchObject([{ error: { code: 'NOT_FOUND' } }]);
    const last = newPlate();
    await ok('watchlist.create', { pattern: last, reason: 'End' });
    await read(last);
    const { messages } = alerts;
    await eventually(
      async () => JSON.stringify(messages),
      (text) => text.includes(last),
    );
    expect(JSON.stringify(messages)).not.toContain(plate);
    alerts.close();
  });
});

describe('the hotlists', () => {
  it('are found by name and purpose, sorted and paged, and covert ones only by those who see them', async () => {
    const names = ['Çalıntı araçlar', 'Permits', 'Secret'];
    const mark = `mark${++count}`;
    for (const [n, name] of names.entries())
      await ok(
        'hotlists.create',
        {
          name: `${name} ${mark}`,
          purpose: n === 1 ? 'Residents of the 100% zone' : null,
          priority: (['LOW', 'CRITICAL', 'HIGH'] as const)[n],
          covert: n === 2,
        },
        admin,
      );
    const found = async (input: object, as = admin) => {
      const { hotlists, total } = await ok<{ hotlists: Hotlist[]; total: number }>(
        'hotlists.getAll',
        input,
        as,
      );
      expect(total).toBeGreaterThanOrEqual(hotlists.length);
      return hotlists
        .filter(({ name }) => name.includes(mark))
        .map(({ name }) => name.replace(` ${mark}`, ''));
    };
    expect(await found({ search: mark.toUpperCase() })).toEqual(names);
    expect(await found({ search: mark }, token)).toEqual(names.slice(0, 2));
    expect(await found({ search: `ÇALINTI ARAÇLAR ${mark}` })).toEqual(['Çalıntı araçlar']);
    expect(await found({ search: '100% ZONE' })).toEqual(['Permits']);
    expect(await found({ search: '100_ zone' })).toEqual([]);
    const byPriority = { search: mark, sortBy: 'priority', sortOrder: 'desc' };
    expect(await found(byPriority)).toEqual(['Permits', 'Secret', 'Çalıntı araçlar']);
    expect(await found({ ...byPriority, skip: 1, take: 1 })).toEqual(['Secret']);
  });
});

describe('a look-back', () => {
  const lookedBack = (id: string) =>
    eventually(
      async () => (await ok<{ lookBacks: HotlistLookBack[] }>('hotlists.getLookBacks', { id })).lookBacks,
      (all) => all.every(({ state }) => state === 'DONE'),
    );

  it('finds the reads of the minutes before a change, without an alert', async () => {
    const plate = newPlate();
    const { id } = await createList({ verification: 'NEVER' });
    const eventId = await read(plate);
    const { id: entryId } = await list(id, plate);
    await eventually(
      () => hitsOf(id),
      (hits) => hits.length > 0,
    );
    expect(await hitsOf(id)).toMatchObject([{ kind: 'LOOK_BACK', eventId, entryId }]);
  });

  it('that is stopped stays so, and searches no further', async () => {
    const { id } = await createList();
    // Entries are searched in groups of 200.
    const plates = Array.from({ length: 401 }, () => `${newPlate()} STOP`);
    await Promise.all(plates.map((plate) => read(plate)));
    await followedUp();
    // Otherwise the look-back after the change finds them.
    await gantry.pool.query(
      `UPDATE events SET created_at = now() - interval '1 hour' WHERE plate LIKE '% STOP'`,
    );
    const file = await gantry.fetch(`/hotlists/${id}/file`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: ['plate', ...plates].join('\n'),
    });
    const importId = file.body.id as string;
    const imported = (state: string) =>
      eventually(
        () => ok<HotlistImport>('hotlists.getImport', { id: importId }),
        (now) => now.state === state,
      );
    await ok('hotlists.stage', { importId });
    await imported('STAGED');
    await ok('hotlists.applyImport', { id: importId, expectedVersion: 0 });
    await imported('APPLIED');
    await lookedBack(id);
    const { entries } = await ok<{ entries: HotlistEntry[] }>('hotlists.getEntries', { hotlistId: id });
    const lookBackOf = async (lookBackId: string) => {
      const { lookBacks } = await ok<{ lookBacks: HotlistLookBack[] }>('hotlists.getLookBacks', { id });
      return lookBacks.find((each) => each.id === lookBackId);
    };

    const lock = await gantry.pool.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const sent = await ok<HotlistLookBack>('hotlists.lookBack', { id, version: 1, days: 2 });
    await eventually(
      () => lookBackOf(sent.id),
      (now) => now?.state === 'RUNNING',
    );
    expect(await ok('hotlists.cancelLookBack', { id: sent.id })).toMatchObject({ state: 'CANCELLED' });
    expect(await gantry.refusal('hotlists.cancelLookBack', { id: sent.id }, { token })).toMatchObject({
      status: 409,
    });
    await lock.query('COMMIT');
    lock.release();
    // It comes after the other one.
    const next = await ok<HotlistLookBack>('hotlists.lookBack', { id, entryIds: [entries[0]?.id] });
    await eventually(
      () => lookBackOf(next.id),
      (now) => now?.state === 'DONE',
    );
    expect(await lookBackOf(sent.id)).toMatchObject({ state: 'CANCELLED', plates: 401, done: 0 });
    const { total } = await ok<{ total: number }>('hits.getAll', { hotlistId: id });
    expect(total).toBeLessThanOrEqual(201);
  });

  it('finds the reads of past days, by the same rules as live ones', async () => {
    const { id } = await createList({ tolerance: 'CONFUSABLE', maxDifferences: 1 });
    const plate = `LB ${++count} 0O8X`;
    const days = (n: number) => ({ timestamp: new Date(Date.now() - n * 86_400_000).toISOString() });
    await read(plate, days(3));
    await read(plate.replace('8', 'B'), days(2));
    await read(plate.replace('0O8', 'OOB'), days(2));
    await read(plate, days(20));
    // Otherwise the look-back after the change finds them.
    await gantry.pool.query(
      `UPDATE events SET created_at = now() - interval '1 hour' WHERE plate LIKE 'LB %'`,
    );
    const { id: entryId } = await list(id, plate);
    const sent = await ok<HotlistLookBack>('hotlists.lookBack', { id, entryIds: [entryId], days: 10 });
    expect(sent).toMatchObject({ state: 'WAITING', plates: 1 });
    const [done] = (await lookedBack(id)).filter(({ kind }) => kind === 'REQUESTED');
    expect(done).toMatchObject({ hits: 2, done: 1, requestedBy: { name: 'OPERATOR Tester' } });
    const hits = await hitsOf(id);
    expect(hits.map(({ kind, differences }) => [kind, differences]).sort()).toEqual([
      ['LOOK_BACK', 0],
      ['LOOK_BACK', 1],
    ]);
    await ok('hotlists.lookBack', { id, version: 1, days: 30 });
    await lookedBack(id);
    expect(await hitsOf(id)).toHaveLength(3);
    expect(await gantry.refusal('hotlists.lookBack', { id, version: 9 }, { token })).toMatchObject({
      status: 400,
    });
  });

  it.each([
    { tolerance: 'EXACT', maxDifferences: 1 },
    { tolerance: 'CONFUSABLE', maxDifferences: 2 },
    { tolerance: 'ONE_OFF', maxDifferences: 1 },
  ] as const)('finds what a comparison with every read of the time finds (%j)', async (fields) => {
    const letters = ['O01L8BX', 'О0ВХЖ17', 'ΟΧΩΒ017', 'ابهو051'];
    const plateOf = fc
      .constantFrom(...letters)
      .chain((some) =>
        fc.array(fc.constantFrom(...some), { minLength: 4, maxLength: 5 }).map((all) => [some[0], ...all]),
      )
      .map((all) => all.join(''));
    const [listed = []] = fc.sample(fc.uniqueArray(plateOf, { minLength: 8, maxLength: 8 }), 1);
    // Wrong characters are Latin, or of the script of the plate.
    const scriptOf = (plate: string) =>
      letters.find((some) => [...plate].every((each) => some.includes(each))) ?? '';
    const near = fc
      .tuple(fc.constantFrom(...listed), fc.nat(4), fc.nat(1), fc.nat(6), fc.boolean())
      .map(([plate, at, removed, added, isLatin]) =>
        [...plate]
          .toSpliced(at, removed, (isLatin ? 'ZQD0B18' : `${scriptOf(plate)}Q`)[added] ?? '')
          .join(''),
      );
    const reads = fc.sample(
      fc.tuple(fc.oneof(near, fc.constantFrom(...listed)), fc.integer({ min: 0, max: 9 })),
      120,
    );
    const since = Date.now();
    const events: { id: string; plate: string; daysAgo: number }[] = [];
    for (const [plate, daysAgo] of reads) {
      const timestamp = new Date(since - daysAgo * 86_400_000 - 3_600_000).toISOString();
      events.push({ id: await read(plate, { timestamp }), plate, daysAgo });
    }
    await gantry.pool.query(`UPDATE events SET created_at = now() - interval '1 hour' WHERE id = ANY ($1)`, [
      events.map(({ id }) => id),
    ]);
    const { id } = await createList({ ...fields, repeatMinutes: 0 });
    const entries = [];
    for (const plate of listed) entries.push(await list(id, plate));
    await ok('hotlists.lookBack', { id, entryIds: entries.map((entry) => entry.id), days: 6 });
    await lookedBack(id);
    const rules = { ...fields, verification: 'ALWAYS', minConfidence: null } as const;
    const keyOf = (plate: string) => ({ plateKey: plateKey(plate), region: null });
    const expected = listed.flatMap((plate) =>
      events.flatMap((event) => {
        const entry = { ...keyOf(plate), validFrom: null, validUntil: null };
        const isHit = differencesOf(rules, entry, { ...keyOf(event.plate), time: 0 }) !== null;
        return isHit && event.daysAgo < 6 ? [`${event.id} ${plate}`] : [];
      }),
    );
    const { rows } = await gantry.pool.query<{ hit: string }>(
      `SELECT event_id || ' ' || pattern AS hit FROM watchlist_alerts WHERE hotlist_id = $1 AND event_id = ANY ($2)`,
      [id, events.map((event) => event.id)],
    );
    expect(rows.map(({ hit }) => hit).sort()).toEqual(expected.sort());
    expect(expected.length).toBeGreaterThan(10);
  });
});

describe('hits in the course of time', () => {
  it('expire if nobody decides, and are removed after the days of their list, unless they are new or held', async () => {
    const plate = newPlate();
    const { id: hotlistId } = await createList({ hitDays: 1, repeatMinutes: 0 });
    await list(hotlistId, plate);
    for (let n = 0; n < 3; n++) await read(plate);
    const hits = await hitsOf(hotlistId);
    expect(hits).toHaveLength(3);
    // A look-back after the change of the list would find the reads of hits that are removed again.
    await eventually(
      async () => {
        const { rows } = await gantry.pool.query(
          'SELECT count(*) AS n FROM hotlist_look_backs WHERE hotlist_id = $1 AND due_at IS NOT NULL',
          [hotlistId],
        );
        return Number(rows[0].n);
      },
      (left) => left === 0,
    );
    await gantry.pool.query(
      `UPDATE watchlist_alerts SET created_at = now() - interval '25 hours' WHERE id = ANY ($1)`,
      [hits.slice(0, 2).map(({ id }) => id)],
    );
    await eventually(
      () => hitsOf(hotlistId),
      (all) => all.filter(({ state }) => state === 'EXPIRED').length === 2,
    );
    expect(await gantry.refusal('hits.confirm', { id: hits[0]?.id }, { token })).toMatchObject({
      status: 409,
      message: expect.stringContaining('expired'),
    });
    await ok('storage.setHold', { eventIds: [hits[1]?.eventId], reason: 'Court' }, admin);
    // Days are those of UTC.
    await gantry.pool.query(
      `UPDATE watchlist_alerts SET created_at = now() - interval '49 hours', last_read_at = now() - interval '49 hours'
       WHERE id = ANY ($1)`,
      [hits.slice(0, 2).map(({ id }) => id)],
    );
    const preview = await ok<RetentionPreview>('storage.previewRetention', {}, admin);
    expect(preview.totals).toMatchObject({ hits: 1, events: 0 });
    expect(preview.removals).toMatchObject([{ class: 'hits', rows: 1, held: 1, bytes: null }]);
    const stats = await ok<StorageStats>('storage.getStats', undefined, admin);
    expect(stats.nextRemoval).toMatchObject({ hits: 1 });
    await ok('storage.runRetention', undefined, admin);
    const [run] = await eventually(
      async () => (await ok<{ runs: RetentionRun[] }>('storage.getRetentionRuns', {}, admin)).runs,
      ([latest]) => latest?.status === 'COMPLETED',
    );
    expect(run?.removals).toMatchObject([{ class: 'hits', rows: 1 }]);
    // Outside of this transaction, it would expire.
    const removed = inTransaction(gantry.app.context.db, async (tx) => {
      const found = [];
      for (const state of ['NEW', 'EXPIRED']) {
        await tx.execute(sql`
          UPDATE watchlist_alerts SET created_at = now() - interval '49 hours', last_read_at = now() - interval '49 hours',
            state = ${state} WHERE id = ${hits[2]?.id}::uuid`);
        found.push((await removeHitsDue(tx, Date.now(), 10)).map(({ rows }) => rows));
      }
      throw new Error(JSON.stringify(found));
    });
    await expect(removed).rejects.toThrow('[[],[1]]');
    expect((await hitsOf(hotlistId)).map(({ id }) => id).sort()).toEqual([hits[1]?.id, hits[2]?.id].sort());
  });

  it('have an outcome once they are confirmed, which can be corrected', async () => {
    const plate = newPlate();
    const { id: hotlistId } = await createList();
    await list(hotlistId, plate);
    await read(plate);
    const { id } = await theHit(hotlistId);
    const early = { id, outcome: 'STOPPED' };
    expect(await gantry.refusal('hits.setOutcome', early, { token })).toMatchObject({ status: 409 });
    await ok('hits.confirm', { id });
    await ok('hits.setOutcome', early);
    const again = await gantry.refusal('hits.setOutcome', { id, outcome: 'FOUND' }, { token: admin });
    expect(again).toMatchObject({
      status: 409,
      message: expect.stringContaining('OPERATOR Tester set the outcome STOPPED'),
    });
    await ok('hits.setOutcome', { id, outcome: 'NOT_FOUND', note: 'Wrong street', correct: true }, admin);
    const { outcome, history } = await ok<HitDetail>('hits.getById', { id });
    expect([outcome, history.map((each) => each.outcome)]).toEqual([
      'NOT_FOUND',
      [null, 'STOPPED', 'NOT_FOUND'],
    ]);
  });
});
