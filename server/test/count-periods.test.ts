import { coverageOf, isPeriodLength, readPeriod } from '@gantry/contract/counts';
import { ingestBatchInput, reportedEvent } from '@gantry/contract/events';
import { directions, legs, relativeDirections, turns } from '@gantry/contract/values';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const PERIOD = { start: '2026-03-02T08:00:00Z', seconds: 900, volume: 12 };

const of = (more: object) => readPeriod({ ...PERIOD, ...more });

describe('a period of counts', () => {
  it('is read with everything that a detector may report', () => {
    const whole = {
      ...PERIOD,
      direction: 'NB',
      lane: 2,
      movement: { from: 'S', turn: 'L' },
      byClass: { scheme: 'BASIC', counts: { CAR: 10, TRUCK: 2, BICYCLE: 4 } },
      byLength: [
        { from: 0, to: 5.2, count: 10 },
        { from: 5.2, count: 2 },
      ],
      speed: { mean: 48.2, measured: 11, harmonicMean: 46, bins: [{ from: 40, to: 60, count: 11 }] },
      occupancy: 7.5,
      meanHeadway: 60,
      status: 'PARTIAL',
      expectedSamples: 15,
      samples: 14,
    };
    expect(readPeriod(whole)).toEqual({ period: whole });
  });

  it.each([
    ['a statement that nothing passed', { volume: 0 }, { volume: 0, status: 'OK' }],
    ['a gap', { volume: null }, { volume: null }],
    ['a lane by its name', { lane: ' left ' }, { lane: 'left' }],
    ['a lane as a text', { lane: '3' }, { lane: 3 }],
    ['degrees', { direction: 270.5 }, { direction: 270.5 }],
    ['a whole turn', { direction: 360 }, { direction: 0 }],
    ['a count by leg', { movement: { from: 'NW' } }, { movement: { from: 'NW' } }],
    ['null for what is not measured', { lane: null, speed: null, byClass: null }, { volume: 12 }],
    [
      'the motor vehicles of its classes',
      { volume: undefined, byClass: { scheme: 'BASIC', counts: { CAR: 3, UNCLASSIFIED: 1, PEDESTRIAN: 9 } } },
      { volume: 4 },
    ],
  ])('may be %s', (_, given, expected) => {
    expect(of(given)).toMatchObject({ period: expected });
  });

  it.each([
    [{ volume: -1 }, /^volume: Use a whole number of at least 0/],
    [{ volume: 1.5 }, /^volume: Use a whole number/],
    [{ volume: undefined }, /^volume: Send the number of vehicles, null if it is not known, or byClass/],
    [{ seconds: 7 }, /^seconds: Use a divisor of a day/],
    [{ seconds: 5 }, /^seconds: Use a divisor of a day \(86400\) from 10/],
    [{ seconds: 172_800 }, /^seconds: /],
    [{ seconds: '900' }, /^seconds: Use a divisor/],
    [{ start: 'yesterday' }, /^start: Use an ISO 8601/],
    [{ direction: 'north' }, /^direction: Use NB, NE, .*CCW, APPROACHING, RECEDING, or degrees/],
    [{ direction: 361 }, /^direction: Use NB/],
    [{ direction: -1 }, /^direction: Use NB/],
    [{ lane: 0 }, /^lane: Use the number of the lane from 1 to 16, or its name/],
    [{ lane: 17 }, /^lane: Use the number/],
    [{ lane: ' ' }, /^lane: /],
    [{ movement: { from: 'NB' } }, /^movement.from: Use the leg .*N, NE, E/],
    [{ movement: { from: 'N', turn: 'LEFT' } }, /^movement.turn: Use L, T, R, U/],
    [{ byClass: { scheme: 'EURO', counts: {} } }, /^byClass.scheme: Use one of the schemes BASIC, FHWA13/],
    [
      { byClass: { scheme: 'BASIC', counts: { CAR: 12, VAN: 0 } } },
      /^byClass.counts: The scheme BASIC has no class "VAN": use one of CAR, MOTORCYCLE/,
    ],
    [{ byClass: { scheme: 'BASIC', counts: { CAR: -12 } } }, /^byClass.counts.CAR: Use a whole number/],
    [
      { byClass: { scheme: 'BASIC', counts: { CAR: 10, BICYCLE: 2 } } },
      /^volume: volume is 12, but the motor vehicles of byClass are 10: send 10, or leave volume out/,
    ],
    [{ occupancy: 101 }, /^occupancy: Use percent, from 0 to 100/],
    [{ speed: { mean: -1 } }, /^speed.mean: /],
    [
      { speed: { mean: 50, measured: 2, bins: [{ from: 0, count: 3 }] } },
      /^speed.bins: .*add up to `measured`/,
    ],
    [{ byLength: [{ from: 5, to: 5, count: 1 }] }, /^byLength.0.to: A bin must end above its start/],
    [{ samples: 3 }, /^samples: Send expectedSamples/],
    [{ samples: 3, expectedSamples: 2 }, /^samples: /],
    [{ status: 'BROKEN' }, /^status: /],
    [{ volum: 3 }, /^There is no field volum: use start, seconds, direction/],
  ])('%j is refused with what would be right', (given, message) => {
    expect(of(given)).toEqual({ error: { code: 'BAD_REQUEST', message: expect.stringMatching(message) } });
  });

  it.each([null, undefined, 3, 'x', [], [PERIOD]])('%j is not one', (given) => {
    expect(readPeriod(given)).toMatchObject({ error: { code: 'BAD_REQUEST' } });
  });

  it('has a length of which a whole number is a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: -10, max: 90_000 }), (seconds) => {
        expect('period' in of({ seconds })).toBe(isPeriodLength(seconds));
        expect(isPeriodLength(seconds)).toBe(seconds >= 10 && 86_400 % seconds === 0);
      }),
    );
  });

  it.each([
    [{ volume: 0 }, 1],
    [{ volume: null }, 0],
    [{ volume: 5, status: 'FAULT' }, 0],
    [{ volume: 5, samples: 3, expectedSamples: 4 }, 0.75],
  ])('%j covers %d of it', (given, coverage) => {
    const read = of(given);
    expect('period' in read && coverageOf(read.period)).toBe(coverage);
  });

  it('never throws, and answers every value with a period or a sentence', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom(...Object.keys(PERIOD), 'lane', 'byClass', 'speed') }),
        (given) => {
          const read = readPeriod(given);
          expect('period' in read || read.error.message.length > 5).toBe(true);
        },
      ),
    );
  });
});

describe('how a vehicle passed, in an event', () => {
  const event = (more: object) => reportedEvent.safeParse({ eventType: 'SPEED_DETECTION', ...more });

  it('is read with every field', () => {
    const passage = {
      direction: 'SW',
      lane: 'bus lane',
      vehicleClass: { scheme: 'FHWA13', code: '9' },
      vehicleLength: 16.54,
      headway: 2.345,
      gap: 1.9,
      occupancyMs: 310,
      movement: { from: 'E', turn: null },
      passageId: 'a1',
    };
    expect(event(passage).data).toMatchObject({
      ...passage,
      vehicleLength: 16.5,
      headway: 2.35,
      movement: { from: 'E' },
    });
  });

  it('is absent if it is not reported, and null is not reported', () => {
    const nothing = { direction: null, lane: null, vehicleClass: null, movement: null, gap: null };
    expect(event(nothing).data).toEqual(event({}).data);
    expect(Object.keys(event({}).data ?? {})).not.toContain('direction');
  });

  it('has the directions, legs and turns', () => {
    for (const direction of [...directions, ...relativeDirections])
      expect(event({ direction }).success).toBe(true);
    for (const from of legs)
      for (const turn of turns) expect(event({ movement: { from, turn } }).success).toBe(true);
  });

  it.each([
    [{ direction: 'northbound' }, 'direction', /Use NB/],
    [{ lane: 1.5 }, 'lane', /Use the number of the lane/],
    [
      { vehicleClass: { scheme: 'BASIC', code: 'VAN' } },
      'vehicleClass.code',
      /no class "VAN": use one of CAR/,
    ],
    [{ vehicleClass: { scheme: 'basic', code: 'CAR' } }, 'vehicleClass.scheme', /BASIC, FHWA13, TLS8\+1/],
    [{ vehicleLength: 0 }, 'vehicleLength', /./],
    [{ headway: -1 }, 'headway', /./],
    [{ movement: {} }, 'movement.from', /Use the leg/],
    [{ movement: { from: 'N', trun: 'L' } }, 'movement', /There is no field trun: use from and turn/],
    [
      { vehicleClass: { scheme: 'BASIC', code: 'CAR', name: 'x' } },
      'vehicleClass',
      /no field name: use scheme and code/,
    ],
    [{ passageId: '' }, 'passageId', /Must not be empty/],
    [{ passageId: 'x'.repeat(129) }, 'passageId', /at most 128/],
  ])('%j is refused', (given, path, message) => {
    const [issue] = event(given).error?.issues ?? [];
    expect([issue?.path.join('.'), issue?.message]).toEqual([path, expect.stringMatching(message)]);
  });

  it('a batch may say of which time it contains everything', () => {
    const batch = { apiKey: 'k', events: [{}] };
    const observed = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T01:00:00Z' };
    expect(ingestBatchInput.parse({ ...batch, observed }).observed).toEqual(observed);
    expect(ingestBatchInput.parse({ ...batch, observed: null }).observed).toBeUndefined();
    expect(ingestBatchInput.safeParse({ ...batch, observed: { from: observed.from } }).success).toBe(false);
  });
});
