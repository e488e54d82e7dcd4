import { randomUUID } from 'node:crypto';
import type { Certificate, Tolerance } from '@gantry/contract/certificates';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endingsOf } from '../src/cases/certificates.ts';
import { certificatesOf } from '../src/cases/certificates-store.ts';
import { judge, speedAfter, speedBetween, toleranceAt } from '../src/cases/checks.ts';
import { eventually, sharedGantry } from './harness.ts';
import { png } from './sample-images.ts';

const gantry = await sharedGantry({ overrides: { timings: { evaluateAlarmsMs: 100 } } });
const tokens = {
  ADMIN: await gantry.tokenFor('ADMIN'),
  OPERATOR: await gantry.tokenFor('OPERATOR'),
  VIEWER: await gantry.tokenFor('VIEWER'),
};
type Who = keyof typeof tokens;
const ask = <Answer = Certificate>(procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.ok<Answer>(procedure, input, { token: tokens[who] });
const refuse = (procedure: string, input: object = {}, who: Who = 'OPERATOR') =>
  gantry.refusal(procedure, input, { token: tokens[who] });

const DAY = 86_400_000;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();
const addSensor = async () =>
  (
    await ask<{ id: string }>('sensors.create', {
      name: `Camera ${randomUUID()}`,
      deviceId: randomUUID(),
      type: 'CAMERA',
    })
  ).id;
const certify = (sensorId: string, fields: object = {}) =>
  ask('certificates.add', {
    ...{ sensorId, kind: 'CALIBRATION', number: '2026-17' },
    ...{ validFrom: away(-DAY), validUntil: away(100 * DAY), ...fields },
  });
const pdf = Buffer.from('%PDF-1.4\n1 0 obj << >> endobj\ntrailer << >>\n%%EOF\n');

describe('a certificate', () => {
  it('is added with its file, read by everybody, and withdrawn once with a reason', async () => {
    const sensorId = await addSensor();
    const tolerance = { fixedKmh: 3, percent: 3, roundDown: true };
    const added = await certify(sensorId, {
      tolerance,
      file: pdf.toString('base64'),
      fileName: 'K 17.pdf',
      issuer: 'Office',
    });
    expect(added).toMatchObject({
      ...{ sensorId, kind: 'CALIBRATION', number: '2026-17', issuer: 'Office', tolerance, state: 'VALID' },
      file: { name: 'K 17.pdf', bytes: pdf.length, contentType: 'application/pdf' },
      createdBy: { name: 'OPERATOR Tester' },
      withdrawnAt: null,
    });
    const authorization = `Bearer ${tokens.VIEWER}`;
    const response = await fetch(`${gantry.url}${added.file?.url}`, { headers: { authorization } });
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(Buffer.from(await response.arrayBuffer()).equals(pdf)).toBe(true);
    const { id } = added;
    expect(await ask('certificates.getById', { id }, 'VIEWER')).toEqual(added);
    const withdrawn = await ask('certificates.withdraw', { id, reason: 'Another device' });
    expect(withdrawn).toMatchObject({ state: 'WITHDRAWN', withdrawReason: 'Another device' });
    expect(await refuse('certificates.withdraw', { id, reason: 'Again' })).toMatchObject({ status: 409 });
    for (const statement of [
      'DELETE FROM certificates WHERE id = $1',
      `UPDATE certificates SET number = 'x' WHERE id = $1`,
      'UPDATE certificates SET withdrawn_at = NULL, withdrawn_by = NULL, withdraw_reason = NULL WHERE id = $1',
    ])
      await expect(gantry.pool.query(statement, [id])).rejects.toThrow(/never changed/);
  });

  it.each([
    ['FUTURE', DAY, 2 * DAY],
    ['VALID', -DAY, 31 * DAY],
    ['EXPIRING', -DAY, 29 * DAY],
    ['EXPIRED', -2 * DAY, -DAY],
  ] as const)('is %s', async (state, from, until) => {
    const sensorId = await addSensor();
    const { id } = await certify(sensorId, { validFrom: away(from), validUntil: away(until) });
    for (const each of ['FUTURE', 'VALID', 'EXPIRING', 'EXPIRED', 'WITHDRAWN'] as const) {
      const { certificates } = await ask<{ certificates: Certificate[] }>('certificates.getAll', {
        sensorId,
        state: each,
      });
      expect(certificates.map((found) => found.id)).toEqual(each === state ? [id] : []);
    }
  });

  it.each([
    ['an end before its start', { validFrom: away(DAY), validUntil: away(0) }, 'validUntil'],
    ['a validity of a hundred years', { validUntil: away(100 * 366 * DAY) }, 'validUntil'],
    ['no time', { validFrom: 'yesterday' }, 'validFrom'],
    ['no number', { number: ' ' }, 'number'],
    ['a tolerance of something else', { kind: 'DISTANCE', tolerance: { fixedKmh: 1 } }, 'tolerance'],
    ['a negative tolerance', { tolerance: { fixedKmh: -1 } }, 'tolerance.fixedKmh'],
    ['a file that is text', { file: Buffer.from('Hello').toString('base64') }, 'file'],
    ['a file that is not base64', { file: '%PDF-1.4' }, 'file'],
    ['half of a PDF', { file: Buffer.from('%PDF-1.4\n1 0 obj').toString('base64') }, 'file'],
    ['an empty file', { file: '' }, 'file'],
    [
      'a file that is too large',
      { file: Buffer.concat([pdf, Buffer.alloc(5_000_000)]).toString('base64') },
      'file',
    ],
    ['another kind', { kind: 'LICENCE' }, 'kind'],
  ])('is refused with %s', async (_, fields, path) => {
    const input = {
      sensorId: await addSensor(),
      kind: 'CALIBRATION',
      number: '1',
      validFrom: away(0),
      validUntil: away(DAY),
    };
    const { status, data } = await refuse('certificates.add', { ...input, ...fields });
    expect({ status, path: data?.issues?.[0]?.path }).toEqual({ status: 400, path });
  });

  it('is refused for a sensor that does not exist, and from who may not manage sensors', async () => {
    const input = { kind: 'CLOCK', number: '1', validFrom: away(0), validUntil: away(DAY) };
    expect((await refuse('certificates.add', { ...input, sensorId: randomUUID() })).status).toBe(404);
    expect(
      (await refuse('certificates.add', { ...input, sensorId: await addSensor() }, 'VIEWER')).status,
    ).toBe(403);
  });

  it('may have an image as its file, and outlives its sensor', async () => {
    const sensorId = await addSensor();
    const { id, sensorName } = await certify(sensorId, { file: png({ shade: 3 }).toString('base64') });
    await ask('sensors.delete', { id: sensorId });
    expect(await ask('certificates.getById', { id })).toMatchObject({
      sensorName,
      file: { contentType: 'image/png' },
    });
  });

  it('that ends within some days is listed unless another one follows', async () => {
    const sensorId = await addSensor();
    const { id } = await certify(sensorId, { validUntil: away(10 * DAY) });
    const listed = async () =>
      (
        await ask<{ certificates: Certificate[] }>('certificates.getAll', { sensorId, expiringDays: 14 })
      ).certificates.map((each) => each.id);
    expect(await listed()).toEqual([id]);
    await certify(sensorId, { validFrom: away(9 * DAY), validUntil: away(300 * DAY) });
    expect(await listed()).toEqual([]);
  });
});

describe('the validity of a certificate', () => {
  const setZone = (timezone: string) => ask('system.timezone.updateTimezoneSettings', { timezone }, 'ADMIN');
  const facts = {
    ...({ kind: 'VIOLATION', eventType: 'TRAFFIC_VIOLATION', violationType: 'RED_LIGHT' } as const),
    ...{ hasSensor: false, status: null, rejected: null, lags: [], hadUnusableTime: false },
    ...{ measuredKmh: null, limitKmh: null, secondaryKmh: null },
    ...{ plate: null, plateConfidence: null, images: [] },
  };

  it.each<[zone: string, validFrom: string, validUntil: string, from: string, until: string]>([
    // The days and hours in which clocks are set forward, and back.
    ['Europe/Berlin', '2026-03-29', '2026-03-30', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T03:45', '2026-03-29T01:30Z', '2026-03-29T01:45Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-26', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T02:30+01:00', '2026-10-25T00:30Z', '2026-10-25T01:30Z'],
    ['Pacific/Chatham', '2026-04-05', '2026-04-06', '2026-04-04T10:15Z', '2026-04-05T11:15Z'],
    [
      'Pacific/Chatham',
      '2026-04-05T03:00',
      '2026-04-05T03:00+12:45',
      '2026-04-04T13:15Z',
      '2026-04-04T14:15Z',
    ],
    ['Pacific/Chatham', '2026-09-27', '2026-09-28', '2026-09-26T11:15Z', '2026-09-27T10:15Z'],
    ['Pacific/Chatham', '2026-09-27T03:00', '2026-09-27T05:00', '2026-09-26T14:15Z', '2026-09-26T15:15Z'],
  ])(
    'in %s from %s until %s is exact, and named by days of that zone',
    async (zone, validFrom, validUntil, from, until) => {
      const day = validFrom.slice(0, 10);
      await setZone(zone);
      try {
        const sensorId = await addSensor();
        const added = await certify(sensorId, { number: 'K 7', validFrom, validUntil });
        expect([added.validFrom, added.validUntil].map((at) => Date.parse(`${at}`))).toEqual(
          [from, until].map(Date.parse),
        );
        const certificates = await certificatesOf(gantry.app.context.db, sensorId);
        const found = (happenedAt: number) =>
          judge({ ...facts, zone, certificates, happenedAt }).checks.find(
            ({ name }) => name === 'CERTIFICATES',
          );
        for (const within of [Date.parse(from), Date.parse(until) - 1])
          expect(found(within)).toMatchObject({
            result: 'PASS',
            message: `CALIBRATION K 7 covers it until ${day}`,
          });
        expect(found(Date.parse(from) - 1)).toMatchObject({
          result: 'FAIL',
          message: `CALIBRATION K 7 begins after it, on ${day}`,
        });
        expect(found(Date.parse(until))).toMatchObject({
          result: 'FAIL',
          message: `CALIBRATION K 7 had ended on ${day}`,
        });
      } finally {
        await setZone('UTC');
      }
    },
  );
});

describe('the tolerance', () => {
  const ptb: Tolerance = { fixedKmh: 3, percent: 3, roundDown: true };
  it.each([
    [56, 3, 53],
    [78.4, 3, 75],
    [100, 3, 97],
    [101, 3.03, 97],
    [150, 4.5, 145],
    [200, 6, 194],
    [2, 3, 0],
  ])('of %i km/h is %d km/h, and leaves %i', (measured, off, left) => {
    expect(toleranceAt(measured, ptb)).toBeCloseTo(off, 9);
    expect(speedAfter(measured, ptb)).toBe(left);
  });

  it('is never negative, never more than the speed leaves, and leaves more of a higher speed', () => {
    const tolerances = fc.record({
      fixedKmh: fc.double({ min: 0, max: 50, noNaN: true }),
      percent: fc.double({ min: 0, max: 25, noNaN: true }),
      roundDown: fc.boolean(),
    });
    const speeds = fc.double({ min: 0, max: 400, noNaN: true });
    fc.assert(
      fc.property(speeds, speeds, tolerances, (one, other, tolerance) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const [a, b] = [speedAfter(low, tolerance), speedAfter(high, tolerance)];
        expect(a).toBeGreaterThanOrEqual(0);
        expect(a).toBeLessThanOrEqual(low + 1e-6);
        expect(b).toBeGreaterThanOrEqual(a - 1e-6);
      }),
    );
  });

  it('of two line crossings is none: metres / seconds × 3.6', () => {
    expect(speedBetween(10, 500)).toBe(72);
    expect(speedBetween(11.11, 500)).toBe(79.99);
  });
});

describe('the end of what certificates cover', () => {
  const end = (...all: [number, number][]) =>
    endingsOf(
      all.map(([validFrom, validUntil]) => ({ sensorId: 's', kind: 'CALIBRATION', validFrom, validUntil })),
      100,
    ).map(({ validUntil }) => validUntil);
  it.each([
    ['one', [[0, 200]], [200]],
    [
      'one that follows',
      [
        [0, 200],
        [150, 300],
      ],
      [300],
    ],
    [
      'one that follows at once',
      [
        [0, 200],
        [200, 300],
      ],
      [300],
    ],
    [
      'one after a gap',
      [
        [0, 200],
        [201, 300],
      ],
      [200],
    ],
    ['one that ended', [[0, 50]], [50]],
    [
      'one that ended, and one since',
      [
        [0, 50],
        [90, 300],
      ],
      [300],
    ],
    [
      'one that ended, and one to come',
      [
        [0, 50],
        [150, 300],
      ],
      [50],
    ],
    [
      'a shorter one within',
      [
        [0, 200],
        [10, 20],
      ],
      [200],
    ],
  ] as const)('is right for %s', (_, all, wanted) => {
    expect(end(...(all as unknown as [number, number][]))).toEqual(wanted);
  });
});

describe('the alarm about certificates', () => {
  const alarmsOf = async (sensorId: string) =>
    (
      await ask<{ alarms: { sensorId: string; state: string; text: string }[] }>('alarms.getAll', {})
    ).alarms.filter((alarm) => alarm.sensorId === sensorId);

  it('fires for one that ends within the days, and ends when another one follows', async () => {
    const [soon, later, ended] = [await addSensor(), await addSensor(), await addSensor()];
    await certify(soon, { validUntil: away(10 * DAY) });
    await certify(later, { validUntil: away(40 * DAY) });
    await certify(ended, { validFrom: away(-9 * DAY), validUntil: away(-DAY) });
    await ask(
      'alarmRules.create',
      { name: 'Certificates', severity: 'LOW', condition: { source: 'CERTIFICATE', days: 30 } },
      'ADMIN',
    );
    const firing = (sensorId: string, isFiring: boolean) =>
      eventually(
        () => alarmsOf(sensorId),
        (alarms) => alarms.some(({ state }) => state === 'FIRING') === isFiring,
      );
    expect((await firing(soon, true))[0]).toMatchObject({
      text: 'The certificate CALIBRATION of the sensor ends soon',
    });
    expect((await firing(ended, true))[0]).toMatchObject({
      text: 'The certificate CALIBRATION of the sensor has ended',
    });
    expect(await alarmsOf(later)).toEqual([]);
    await certify(soon, { validFrom: away(9 * DAY), validUntil: away(300 * DAY) });
    await firing(soon, false);
    const { certificates } = await ask<{ certificates: Certificate[] }>('certificates.getAll', {
      sensorId: soon,
    });
    await ask('certificates.withdraw', { id: certificates[0]?.id, reason: 'x' });
    await firing(soon, true);
  });
});
