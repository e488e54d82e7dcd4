import { MINUTE_MS } from '@gantry/contract/durations';
import { ingestInput, reportedEvent } from '@gantry/contract/events';
import { createLocationInput } from '@gantry/contract/locations';
import { createSensorInput, heartbeatInput, sensorType } from '@gantry/contract/sensors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportFrom } from '../src/event.ts';
import { identityOf, issuesAt } from '../src/health.ts';
import { addressOf, isFreeway, limitKmh, places } from '../src/places.ts';
import { createRandom } from '../src/random.ts';
import { virtualSensor } from '../src/sensor.ts';
import { isSpeeding, measuredSpeed } from '../src/speed.ts';
import { createStream, eventsOfMinute, type TimedEvent } from '../src/stream.ts';

const STEADY = { rate: 1, steady: true };
const MINUTE = Date.UTC(2026, 2, 10, 14) / MINUTE_MS;

const seeds = fc.integer({ min: 0, max: 999_999 });
const indexes = fc.integer({ min: 0, max: 9_999 });
const minutes = fc.integer({ min: Date.UTC(2001, 0) / MINUTE_MS, max: Date.UTC(2100, 0) / MINUTE_MS });
const sensors = fc.tuple(seeds, indexes).map(([seed, index]) => virtualSensor(seed, index));

/** At least `count` events of the first sensor of the type, from `MINUTE` on. */
const sample = (type: string, count: number): TimedEvent[] => {
  const index = [0, 1, 2, 3, 4].find((one) => virtualSensor(1, one).type === type) ?? 0;
  const sensor = virtualSensor(1, index);
  const events: TimedEvent[] = [];
  for (let minute = MINUTE; events.length < count; minute++) {
    events.push(...eventsOfMinute(sensor, minute, STEADY));
  }
  return events;
};

const share = (events: readonly TimedEvent[], test: (event: TimedEvent['input']) => boolean): number =>
  events.filter(({ input }) => test(input)).length / events.length;

describe('the reports of a sensor', () => {
  it('depend only on the seed', () => {
    fc.assert(
      fc.property(seeds, indexes, minutes, (seed, index, minute) => {
        const once = eventsOfMinute(virtualSensor(seed, index), minute, STEADY);
        expect(eventsOfMinute(virtualSensor(seed, index), minute, STEADY)).toEqual(once);
      }),
      { numRuns: 50 },
    );
    const plates = (seed: number) =>
      eventsOfMinute(virtualSensor(seed, 1), MINUTE, STEADY).map(({ input }) => input.licensePlateNumber);
    expect(plates(1)).not.toEqual(plates(2));
  });

  it('are always accepted by the service', () => {
    fc.assert(
      fc.property(sensors, minutes, (sensor, minute) => {
        for (const { at, input } of eventsOfMinute(sensor, minute, STEADY)) {
          expect(reportedEvent.safeParse(input).error).toBeUndefined();
          expect(ingestInput.safeParse({ apiKey: 'k', ...input }).error).toBeUndefined();
          expect(Date.parse(input.timestamp)).toBe(at);
          expect(Math.floor(at / MINUTE_MS)).toBe(minute);
        }
        expect(heartbeatInput.safeParse({ apiKey: 'k', ...identityOf(sensor) }).error).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  it('have a key of their own for every event, and are in the order of time', () => {
    fc.assert(
      fc.property(sensors, minutes, (sensor, minute) => {
        const events = [minute, minute + 1].flatMap((one) => eventsOfMinute(sensor, one, STEADY));
        expect(new Set(events.map(({ input }) => input.idempotencyKey)).size).toBe(events.length);
        expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });

  it('are fewer at a lower rate, but never different', () => {
    const rates = fc.double({ min: 0.001, max: 3, noNaN: true });
    fc.assert(
      fc.property(sensors, minutes, rates, rates, (sensor, minute, one, other) => {
        const few = eventsOfMinute(sensor, minute, { rate: Math.min(one, other), steady: false });
        const many = eventsOfMinute(sensor, minute, { rate: Math.max(one, other), steady: false });
        expect(many).toEqual(expect.arrayContaining(few));
      }),
      { numRuns: 50 },
    );
  });

  it('are eventsPerMin a minute on average', () => {
    const sensor = virtualSensor(3, 2);
    const hours = 20;
    let total = 0;
    for (let minute = 0; minute < hours * 60; minute++) {
      total += eventsOfMinute(sensor, MINUTE + minute, { rate: 0.33, steady: true }).length;
    }
    const expected = hours * 60 * sensor.eventsPerMin * 0.33;
    expect(total / expected).toBeGreaterThan(0.97);
    expect(total / expected).toBeLessThan(1.03);
  });
});

describe('violations', () => {
  it('of speed are exactly the speeds above limit and tolerance', () => {
    fc.assert(
      fc.property(sensors, minutes, (sensor, minute) => {
        for (const { input } of eventsOfMinute(sensor, minute, STEADY)) {
          if (input.eventType !== 'SPEED_DETECTION' && input.violationType !== 'SPEEDING') continue;
          expect(isSpeeding(input.vehicleSpeed ?? 0, sensor.place)).toBe(input.violationType === 'SPEEDING');
        }
      }),
      { numRuns: 200 },
    );
  });

  it('have their event type, and occur only where possible', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...sensorType.options),
        fc.constantFrom(...places),
        seeds,
        (type, at, seed) => {
          const { eventType, violationType } = reportFrom(type, at, MINUTE * MINUTE_MS, createRandom(seed));
          if (violationType === 'NO_SEATBELT') expect(eventType).toBe('SEATBELT_VIOLATION');
          else expect(eventType === 'TRAFFIC_VIOLATION').toBe(violationType !== undefined);
          if (isFreeway(at)) expect(['RED_LIGHT', 'ILLEGAL_PARKING']).not.toContain(violationType);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are rare, some much rarer than others', () => {
    const camera = sample('CAMERA', 20_000);
    const of = (violation: string) => share(camera, ({ violationType }) => violationType === violation);
    expect(of('RED_LIGHT')).toBeGreaterThan(0.03);
    expect(of('RED_LIGHT')).toBeLessThan(0.07);
    expect(of('WRONG_WAY')).toBeGreaterThan(0);
    expect(of('WRONG_WAY')).toBeLessThan(0.01);
    expect(share(camera, ({ eventType }) => eventType === 'VEHICLE_DETECTION')).toBeGreaterThan(0.7);
    expect(share(camera, ({ eventType }) => eventType === 'INCIDENT')).toBeGreaterThan(0.001);
    expect(share(camera, ({ eventType }) => eventType === 'INCIDENT')).toBeLessThan(0.02);
  });
});

describe('speeds', () => {
  const measure = (fullness: number): number[] => {
    const random = createRandom(5);
    return Array.from({ length: 20_000 }, () => measuredSpeed(random, places[0], fullness));
  };
  const mean = (speeds: readonly number[]) => speeds.reduce((sum, one) => sum + one, 0) / speeds.length;
  const limit = limitKmh(places[0]);

  it('are around the limit, with a tail of fast drivers', () => {
    const speeds = measure(0.2);
    expect(mean(speeds) / limit).toBeGreaterThan(0.95);
    expect(mean(speeds) / limit).toBeLessThan(1.05);
    const beyond = (times: number) => speeds.filter((one) => one > limit * times).length / speeds.length;
    expect(beyond(1.5)).toBeGreaterThan(0.002);
    expect(beyond(1.5)).toBeLessThan(0.02);
  });

  it('drop when the roads are full', () => {
    expect(mean(measure(1))).toBeLessThan(mean(measure(0)) * 0.8);
  });
});

describe('plates', () => {
  it('recur, because commuters pass again', () => {
    const plates = sample('ANPR', 10_000).map(({ input }) => input.licensePlateNumber);
    const counts = new Map<string, number>();
    for (const plate of plates) if (plate) counts.set(plate, (counts.get(plate) ?? 0) + 1);
    const again = [...counts.values()].filter((seen) => seen > 1).reduce((sum, seen) => sum + seen, 0);
    expect(again / plates.length).toBeGreaterThan(0.3);
    expect(Math.max(...counts.values())).toBeGreaterThan(20);
    expect(counts.size).toBeGreaterThan(2_000);
    expect([...counts.keys()].every((plate) => /^(\d[A-Z]{2}\d{4}|[A-Z]{2,3}-\d{4})$/.test(plate))).toBe(
      true,
    );
  });
});

describe('the fleet', () => {
  it('has sensors of all five types from five sensors on, with valid ids, names and places', () => {
    const fleet = Array.from({ length: 100 }, (_, index) => virtualSensor(1, index));
    expect(new Set(fleet.slice(0, 5).map(({ type }) => type))).toEqual(new Set(sensorType.options));
    expect(new Set(fleet.map(({ deviceId }) => deviceId)).size).toBe(100);
    for (const sensor of fleet) expect(createSensorInput.safeParse(sensor).error).toBeUndefined();
    for (const place of places) {
      const { name, latitude, longitude } = place;
      const input = {
        name,
        address: addressOf(place),
        coordinates: { latitude, longitude },
        speedLimit: limitKmh(place),
      };
      expect(createLocationInput.safeParse(input).error).toBeUndefined();
      // The console shows the limit with one decimal place.
      expect((limitKmh(place) / 1.609344).toFixed(1)).toBe(`${place.limitMph}.0`);
      expect(latitude).toBeGreaterThan(38.9);
      expect(latitude).toBeLessThan(39.4);
      expect(longitude).toBeGreaterThan(-77.5);
      expect(longitude).toBeLessThan(-76.8);
    }
    expect(new Set(places.map(({ name }) => name)).size).toBe(places.length);
  });

  it('is mostly healthy, with few warnings and very few errors', () => {
    const spells = Array.from({ length: 20_000 }, (_, spell) => {
      const issues = issuesAt(
        virtualSensor(1, spell % 20),
        (MINUTE + 10 * Math.floor(spell / 20)) * MINUTE_MS,
      );
      return issues[0]?.severity ?? 'well';
    });
    const part = (severity: string) => spells.filter((one) => one === severity).length / spells.length;
    expect(part('warning')).toBeGreaterThan(0.01);
    expect(part('warning')).toBeLessThan(0.02);
    expect(part('critical')).toBeGreaterThan(0.0005);
    expect(part('critical')).toBeLessThan(0.005);
  });
});

describe('a stream', () => {
  it('returns every event once, in portions of any size', () => {
    const waits = fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(
        sensors,
        minutes,
        waits,
        fc.integer({ min: 1, max: 30 }),
        (sensor, minute, steps, limit) => {
          const start = minute * MINUTE_MS + 20_000;
          const stream = createStream(sensor, start, STEADY);
          const taken: TimedEvent[] = [];
          let now = start;
          for (const step of steps) {
            now += step;
            expect(stream.nextAt(now)).toBeGreaterThanOrEqual(taken.at(-1)?.at ?? start);
            for (let more = stream.take(now, limit); more.length > 0; more = stream.take(now, limit)) {
              expect(more.length).toBeLessThanOrEqual(limit);
              taken.push(...more);
            }
            expect(stream.nextAt(now)).toBeGreaterThan(now);
          }
          const all: TimedEvent[] = [];
          for (let one = minute; one * MINUTE_MS <= now; one++)
            all.push(...eventsOfMinute(sensor, one, STEADY));
          expect(taken).toEqual(all.filter(({ at }) => at >= start && at <= now));
        },
      ),
      { numRuns: 50 },
    );
  });
});
