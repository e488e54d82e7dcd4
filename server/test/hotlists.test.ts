import type { Hit } from '@gantry/contract/hits';
import type { Hotlist, HotlistEntry } from '@gantry/contract/hotlists';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

type Json<Thing> = { [Field in keyof Thing]: Thing[Field] extends Date ? string : Thing[Field] };

const gantry = await sharedGantry({ overrides: { timings: { sweepHotlistJobsMs: 50 } } });
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
