import { type EventType, eventType, type Severity, severity } from '@gantry/contract/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankOf, severityOf, severityOfRank } from '../src/events/severity.ts';

const of = (
  type: EventType,
  violationType: string | null = null,
  vehicleSpeed: number | null = null,
  speedLimit: number | null = null,
) => severityOf({ eventType: type, violationType, vehicleSpeed, speedLimit });

const anyType = fc.constantFrom(...eventType.options);
const anyViolation = fc.option(
  fc.oneof(
    fc.constantFrom('SPEEDING', 'RED_LIGHT', 'WRONG_WAY', 'NO_SEATBELT', 'LANE_VIOLATION', 'tailgating'),
    fc.string(),
  ),
);
const anySpeed = fc.option(fc.double({ min: 0, max: 2000, noNaN: true }));
const anyLimit = fc.option(fc.double({ min: 1, max: 400, noNaN: true }));
const rankOrZero = (value: Severity | null) => (value === null ? 0 : rankOf(value));

describe('severityOf', () => {
  it.each<[EventType, Severity | null]>([
    ['INCIDENT', 'HIGH'],
    ['TRAFFIC_VIOLATION', 'MEDIUM'],
    ['SEATBELT_VIOLATION', 'MEDIUM'],
    ['VEHICLE_DETECTION', null],
    ['SPEED_DETECTION', null],
    ['PLATE_RECOGNITION', null],
  ])('maps %s without a violation to %s', (type, expected) => {
    expect(of(type)).toBe(expected);
  });

  it.each<[string, Severity]>([
    ['WRONG_WAY', 'CRITICAL'],
    ['RED_LIGHT', 'HIGH'],
    ['PHONE_USE', 'MEDIUM'],
    ['NO_SEATBELT', 'MEDIUM'],
    ['SPEEDING', 'MEDIUM'],
    ['LANE_VIOLATION', 'LOW'],
    ['ILLEGAL_PARKING', 'LOW'],
    ['wrong_way', 'CRITICAL'],
  ])('maps the violation %s to %s, whatever the event type', (violation, expected) => {
    for (const type of eventType.options) expect(of(type, violation)).toBe(expected);
  });

  it.each<[number, Severity]>([
    [50.1, 'LOW'],
    [60, 'LOW'],
    [60.1, 'MEDIUM'],
    [70, 'MEDIUM'],
    [70.1, 'HIGH'],
    [90, 'HIGH'],
    [90.1, 'CRITICAL'],
    [2000, 'CRITICAL'],
  ])('maps %s km/h with a limit of 50 to %s', (speed, expected) => {
    expect(of('SPEED_DETECTION', null, speed, 50)).toBe(expected);
    expect(of('TRAFFIC_VIOLATION', 'SPEEDING', speed, 50)).toBe(expected);
  });

  it('ignores a speed up to the limit, or without a limit', () => {
    expect(of('SPEED_DETECTION', null, 50, 50)).toBeNull();
    expect(of('SPEED_DETECTION', null, 250, null)).toBeNull();
    expect(of('SPEED_DETECTION', null, null, 50)).toBeNull();
    expect(of('SPEED_DETECTION', 'SPEEDING', 40, 50)).toBe('MEDIUM');
  });

  it('uses the higher of violation and speed', () => {
    expect(of('TRAFFIC_VIOLATION', 'LANE_VIOLATION', 100, 50)).toBe('CRITICAL');
    expect(of('TRAFFIC_VIOLATION', 'WRONG_WAY', 51, 50)).toBe('CRITICAL');
    expect(of('INCIDENT', null, 55, 50)).toBe('HIGH');
  });

  it('never decreases with the speed', () => {
    fc.assert(
      fc.property(anyType, anyViolation, anySpeed, anySpeed, anyLimit, (type, violation, a, b, limit) => {
        fc.pre(violation?.toUpperCase() !== 'SPEEDING');
        const [slow, fast] = [a ?? 0, b ?? 0].sort((x, y) => x - y) as [number, number];
        expect(rankOrZero(of(type, violation, slow, limit))).toBeLessThanOrEqual(
          rankOrZero(of(type, violation, fast, limit)),
        );
      }),
    );
  });

  it('is at least that of the violation, unless the violation is the speed itself', () => {
    fc.assert(
      fc.property(anyType, anyViolation, anySpeed, anyLimit, (type, violation, speed, limit) => {
        fc.pre(violation?.toUpperCase() !== 'SPEEDING');
        expect(rankOrZero(of(type, violation, speed, limit))).toBeGreaterThanOrEqual(
          rankOrZero(of(type, violation)),
        );
      }),
    );
  });
});

describe('ranks', () => {
  it('order severities from LOW to CRITICAL and can be converted back', () => {
    expect(severity.options.map(rankOf)).toEqual([1, 2, 3, 4]);
    for (const each of severity.options) expect(severityOfRank(rankOf(each))).toBe(each);
    expect([0, 5, -1].map(severityOfRank)).toEqual([null, null, null]);
  });
});
