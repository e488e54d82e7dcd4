import { describe, expect, it } from 'vitest';
import { believedTime, composeEvent } from '../src/compose.ts';
import type { ObservedEvent, Report } from '../src/format.ts';

const at = Date.UTC(2026, 6, 1, 12);
const around = { receivedAt: at, believedAt: at - 5_000, connectionId: 'c1', messageId: 'm1', index: 2 };
const reportOf = (event: Partial<ObservedEvent>, key: string | null = 'k'): Report => ({
  key,
  device: [],
  occurredAt: at,
  event: { eventType: 'PLATE_RECOGNITION', ...event },
});
const eventOf = (event: Partial<ObservedEvent>, key: string | null = 'k', given = around) => {
  const composed = composeEvent(reportOf(event, key), given);
  if ('refusal' in composed) throw new Error(composed.refusal);
  return composed.event;
};

describe('the event of a report', () => {
  it('has its time, its key, and where it came from', () => {
    expect(
      eventOf({ licensePlateNumber: 'B AB 1', metadata: { vendor: 'x', lane: null, raw: { a: 1 } } }),
    ).toEqual({
      eventType: 'PLATE_RECOGNITION',
      description: null,
      location: null,
      metadata: {
        vendor: 'x',
        raw: { a: 1 },
        connectionId: 'c1',
        messageId: 'm1',
        receivedAt: '2026-07-01T12:00:00.000Z',
        clock: 'device',
      },
      images: [],
      tags: [],
      violationType: null,
      licensePlateNumber: 'B AB 1',
      vehicleType: null,
      vehicleSpeed: null,
      severity: null,
      timestamp: '2026-07-01T11:59:55.000Z',
      idempotencyKey: 'c1:k',
    });
  });

  it('has the time of receipt when that of the device is implausible', () => {
    const { timestamp, metadata } = eventOf({}, 'k', { ...around, believedAt: null } as never);
    expect(timestamp).toBe('2026-07-01T12:00:00.000Z');
    expect(metadata).toMatchObject({ clock: 'receipt' });
  });

  it.each([
    ['none', null, 'm1:2'],
    ['a short one', '鄂A06654', 'c1:鄂A06654'],
    ['a long one', 'x'.repeat(200), /^c1:[0-9a-f]{64}$/],
    ['one with a NUL', 'a\0b', /^c1:[0-9a-f]{64}$/],
  ])('has a key of at most 128 characters when its report has %s', (_, key, expected) => {
    expect(eventOf({}, key).idempotencyKey).toMatch(expected);
  });

  it('is shortened, and values that the contract does not accept are left out', () => {
    const event = eventOf({
      description: `${'ü'.repeat(10_001)}`,
      vehicleType: '😀'.repeat(101),
      violationType: ' \0 ',
      vehicleSpeed: 2001,
      location: { latitude: 168.37, longitude: -56.64 },
      images: ['', '/images/a', 'x'.repeat(2049)],
      tags: ['a', ' a ', '', 'b'.repeat(101), ...Array.from({ length: 200 }, (_, n) => `t${n}`)],
      metadata: { raw: { 'a\0': ['b\0', '\ud800'] } },
    });
    expect(event.description).toHaveLength(10_000);
    expect([...(event.vehicleType ?? '')]).toHaveLength(100);
    expect(event).toMatchObject({ violationType: null, vehicleSpeed: null, location: null });
    expect(event.images).toEqual(['/images/a']);
    expect(event.tags).toHaveLength(100);
    expect(event.tags.slice(0, 2)).toEqual(['a', 'b'.repeat(100)]);
    expect(event.metadata).toMatchObject({ raw: { a: ['b', '\ufffd'] } });
  });

  it('has no plate when the text is too long for one', () => {
    expect(eventOf({ licensePlateNumber: 'A'.repeat(51), vehicleSpeed: 40 })).toMatchObject({
      eventType: 'SPEED_DETECTION',
      licensePlateNumber: null,
    });
  });

  it('has a plate as it is seen, without characters that nobody sees', () => {
    expect(eventOf({ licensePlateNumber: '\u202eAB\u200b 12\u00013' }).licensePlateNumber).toBe('AB 123');
    expect(eventOf({ licensePlateNumber: 'طهران ۱۲' }).licensePlateNumber).toBe('طهران ۱۲');
    expect(eventOf({ licensePlateNumber: '\u200e \u0007' }).licensePlateNumber).toBeNull();
  });

  it('does not contain a body of several megabytes', () => {
    expect(eventOf({ metadata: { vendor: 'x', raw: 'x'.repeat(300_000) } }).metadata).not.toHaveProperty(
      'raw',
    );
  });

  it('is refused with a clear message when it has no valid type', () => {
    expect(composeEvent(reportOf({ eventType: 'CAR' as never }), around)).toEqual({
      refusal: expect.stringMatching(/^The event is invalid: eventType: /),
    });
  });

  it.each([
    ['none', null, null],
    ['4 minutes ahead', at + 240_000, at + 240_000],
    ['6 minutes ahead', at + 360_000, null],
    ['29 days old', at - 29 * 86_400_000, at - 29 * 86_400_000],
    ['not a number', Number.NaN, null],
    ['31 days old', at - 31 * 86_400_000, null],
  ])('decides whether a time is plausible: %s', (_, occurredAt, expected) => {
    expect(believedTime(occurredAt, at, 30)).toBe(expected);
  });
});
