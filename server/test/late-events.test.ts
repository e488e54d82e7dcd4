import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

// Events that arrive late, after their sensor was moved or the limit of its location was changed.

const now = Date.now();
const at = (time: number): string => new Date(time).toISOString();
const day = (time: number): string => at(time).slice(0, 10);

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

const ask = (procedure: string, input: object) => gantry.ok(procedure, input, { token });
const addLocation = async (name: string, speedLimit: number | null): Promise<string> =>
  (await ask('locations.create', { name, speedLimit })).id;
const register = (locationId: string | null) =>
  ask('sensors.create', { name: 'Mast', deviceId: randomUUID(), type: 'RADAR', locationId });
/** Moves all earlier changes of places and speed limits into the past by the given number of days. */
const letAge = async (days: number): Promise<void> => {
  for (const table of ['sensor_places', 'location_limits'])
    await gantry.pool.query(
      `UPDATE ${table} SET since = since - make_interval(days => $1) WHERE since <> '-infinity'`,
      [days],
    );
  gantry.app.context.sensorKeys.forgetAll();
};
const report = (apiKey: string, time: number, vehicleSpeed: number) =>
  gantry.ok('events.ingest', {
    apiKey,
    eventType: 'SPEED_DETECTION',
    violationType: 'SPEEDING',
    timestamp: at(time),
    vehicleSpeed,
  });
const find = async (eventId: string) => ask('events.getById', { id: eventId });

describe('a late event', () => {
  it('counts where its sensor was when it happened', async () => {
    const [east, west] = [await addLocation('East', 50), await addLocation('West', 30)];
    const { id, apiKey } = await register(east);
    await ask('sensors.update', { id, locationId: west });
    await letAge(10);
    const [before, after] = [now - 11 * DAY_MS, now - 9 * DAY_MS];
    const early = await report(apiKey, before, 65);
    const late = await report(apiKey, after, 65);
    expect(await find(early.eventId)).toMatchObject({ locationName: 'East', severity: 'MEDIUM' });
    expect(await find(late.eventId)).toMatchObject({ locationName: 'West', severity: 'HIGH' });
    const { results } = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: [{ eventType: 'VEHICLE_DETECTION', timestamp: at(before + 1_000) }],
    });
    expect(await find(results[0].eventId)).toMatchObject({ locationName: 'East' });
    const volumeOf = async (locationId: string) =>
      (
        await ask('traffic.getFlow', {
          locationId,
          startDate: day(now - 12 * DAY_MS),
          endDate: day(now),
          interval: 'day',
        })
      ).volume;
    expect([await volumeOf(east), await volumeOf(west)]).toEqual([2, 1]);
  });

  it('of a sensor that was assigned its first location later counts there', async () => {
    const south = await addLocation('South', null);
    const { id, apiKey } = await register(null);
    await ask('sensors.update', { id, locationId: south });
    const { eventId } = await report(apiKey, now - DAY_MS, 10);
    expect(await find(eventId)).toMatchObject({ locationName: 'South' });
  });

  it('is compared with the limit at its time, and so are the figures', async () => {
    const locationId = await addLocation('North', 50);
    const { id: sensorId, apiKey } = await register(locationId);
    await ask('locations.update', { id: locationId, speedLimit: 30 });
    await letAge(10);
    const severities = [];
    for (const [time, speed] of [
      [now - 12 * DAY_MS, 45],
      [now - 11 * DAY_MS, 55],
      [now - 9 * DAY_MS, 45],
      [now - 8 * DAY_MS, 25],
    ] as const)
      severities.push((await find((await report(apiKey, time, speed)).eventId)).severity);
    expect(severities).toEqual(['MEDIUM', 'LOW', 'MEDIUM', 'MEDIUM']);
    const range = { startDate: day(now - 13 * DAY_MS), endDate: day(now) };
    const check = async (): Promise<void> => {
      for (const place of [{ locationId }, { sensorId }]) {
        const flow = await ask('traffic.getFlow', { ...place, ...range, interval: 'day' });
        expect(flow).toMatchObject({ speedLimit: 30, shareOverLimit: 0.5 });
        const shares = flow.points.flatMap(({ shareOverLimit }: { shareOverLimit: number | null }) =>
          shareOverLimit === null ? [] : [shareOverLimit],
        );
        expect(shares).toEqual([0, 1, 1, 0]);
        expect(await ask('traffic.getSpeedDistribution', { ...place, ...range })).toMatchObject({
          shareOverLimit: 0.5,
        });
      }
      const { locations } = await ask('traffic.getTopLocations', {
        ...range,
        by: 'shareOverLimit',
        minimumVolume: 1,
      });
      expect(locations.find((each: { locationId: string }) => each.locationId === locationId)).toMatchObject({
        shareOverLimit: 0.5,
        speedLimit: 30,
      });
    };
    await check();
    await rollUpAllTraffic(gantry, 50);
    await check();
  });

  it('without a timestamp belongs to the present, even just after a move', async () => {
    const [one, other] = [await addLocation('One', 50), await addLocation('Other', 30)];
    const { id, apiKey } = await register(one);
    await ask('sensors.update', { id, locationId: other });
    const { eventId } = await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    expect(await find(eventId)).toMatchObject({ locationName: 'Other' });
  });
});

describe('a limit that is not an integer', () => {
  it('is rounded up, so that no speed within it counts as above it', async () => {
    const locationId = await addLocation('Decimal', 50.5);
    const { apiKey } = await register(locationId);
    for (const speed of [48, 50.2, 50.4, 50.5, 51.2]) {
      await report(apiKey, now - DAY_MS, speed);
      await sleep(1);
    }
    const range = { startDate: day(now - 2 * DAY_MS), endDate: day(now) };
    const shares = async (): Promise<number[]> => [
      (await ask('traffic.getFlow', { locationId, ...range })).shareOverLimit,
      (await ask('traffic.getSpeedDistribution', { locationId, ...range })).shareOverLimit,
      (await ask('traffic.getTopLocations', range)).locations.find(
        (each: { locationId: string }) => each.locationId === locationId,
      ).shareOverLimit,
    ];
    expect(await shares()).toEqual([0.2, 0.2, 0.2]);
    await rollUpAllTraffic(gantry, 50);
    expect(await shares()).toEqual([0.2, 0.2, 0.2]);
  });
});
