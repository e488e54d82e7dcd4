import { describe, expect, it } from 'vitest';
import { dataUrl, jpeg } from '../../../server/test/sample-images.ts';
import { unifiProtect } from '../../src/formats/unifi-protect.ts';
import { readBody, readPayload } from './reading.ts';

const DEVICE = '942A6FD0AD1A';

const alarm = (triggers: unknown, more: object = {}): string =>
  JSON.stringify({
    alarm: {
      name: 'Gate',
      sources: [{ device: DEVICE, type: 'include' }],
      conditions: [],
      triggers,
      ...more,
    },
    timestamp: 1758350754119,
  });

const trigger = (key: string, more: object = {}) => ({
  key,
  device: DEVICE,
  eventId: 'E1',
  timestamp: 1758350753085,
  ...more,
});

describe('UniFi Protect', () => {
  it('unifi-protect-alarm-webhook-plate.json: one plate', async () => {
    const { is, reports } = await readPayload(unifiProtect, 'unifi-protect-alarm-webhook-plate.json');
    expect({ is, count: reports.length }).toEqual({ is: 'reports', count: 1 });
    expect(reports[0]).toMatchObject({
      key: `68ce4d9c0202bb03e40cbdbc|${DEVICE}|7ERF019`,
      device: [DEVICE],
      occurredAt: 1758350753085,
      event: {
        eventType: 'PLATE_RECOGNITION',
        licensePlateNumber: '7ERF019',
        tags: ['unifi', 'LPR Webhook'],
        metadata: { vendor: 'unifi-protect', triggers: ['license_plate_unknown'], zones: [1] },
      },
      passage: { quality: 2, isLast: false, waitSeconds: 5 },
    });
  });

  it('unifi-protect-rawevent-licenseplate.json: an event of the private API', async () => {
    const { reports } = await readPayload(unifiProtect, 'unifi-protect-rawevent-licenseplate.json');
    expect(reports).toMatchObject([
      {
        key: 'f1d59512b03f596d87db22c7|6921b7b903ac2703e401be0a',
        device: ['dcb7b0d1318653f056420d16'],
        occurredAt: 1763817385975,
        event: {
          licensePlateNumber: 'WWHXXXX',
          vehicleType: 'car',
          metadata: { confidence: 0.75, confidenceRaw: 75, color: 'white' },
        },
      },
    ]);
  });

  it('several triggers about one vehicle are one event', async () => {
    const { reports } = await readBody(
      unifiProtect,
      alarm([
        trigger('vehicle'),
        trigger('license_plate_known', { value: 'AB123' }),
        trigger('license_plate_of_interest', { value: 'AB123', timestamp: 1758350753000 }),
        trigger('person'),
      ]),
    );
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({
      occurredAt: 1758350753000,
      event: {
        licensePlateNumber: 'AB123',
        tags: ['unifi', 'Gate', 'license_plate_of_interest'],
        metadata: { triggers: ['license_plate_known', 'license_plate_of_interest', 'vehicle'] },
      },
    });
  });

  it('several vehicles in one message fan out, each with its own key', async () => {
    const { reports } = await readBody(
      unifiProtect,
      alarm([
        trigger('license_plate_unknown', { value: 'AB1' }),
        trigger('license_plate_unknown', { value: 'CD2' }),
        trigger('vehicle', { eventId: 'E2' }),
      ]),
    );
    expect(reports.map(({ key, event }) => [key, event.licensePlateNumber])).toEqual([
      [`E1|${DEVICE}|AB1`, 'AB1'],
      [`E1|${DEVICE}|CD2`, 'CD2'],
      [`E2|${DEVICE}`, null],
    ]);
  });

  it('webhooks of two rules for one vehicle are one passage: the plate joins the vehicle', async () => {
    const [vehicle, plate] = await Promise.all(
      [trigger('vehicle'), trigger('license_plate_unknown', { value: 'AB1' })].map((each) =>
        readBody(unifiProtect, alarm([each])),
      ),
    );
    expect(plate?.reports[0]?.passage?.joins).toEqual([vehicle?.reports[0]?.passage?.id]);
    expect(plate?.reports[0]?.passage?.quality).toBeGreaterThan(vehicle?.reports[0]?.passage?.quality ?? 9);
  });

  it.each([
    ['license_plate_known', 'Mama', {}, null, 'Mama'],
    ['license_plate_known', 'Mama', { group: { name: 'M AM 1' } }, 'M AM 1', 'Mama'],
    ['license_plate_known', 'Work truck 2', {}, null, 'Work truck 2'],
    ['license_plate_known', 'TÖLSL123', {}, 'TÖLSL123', undefined],
    ['license_plate_unknown', 'unknown', {}, null, undefined],
    ['license_plate_unknown', null, {}, null, undefined],
  ])('%s %j with %j is the plate %j and the name %j', async (key, value, more, plate, name) => {
    const { reports } = await readBody(unifiProtect, alarm([trigger(key, { value, ...more })]));
    expect(reports[0]?.event.licensePlateNumber).toBe(plate);
    expect(reports[0]?.event.metadata?.listName).toBe(name);
  });

  it.each([
    [{ group: { matchedName: 'Mama' } }, {}, null, 'Mama'],
    [{ group: { matchedName: 'Mama' } }, { licensePlate: { name: 'M AM 1' } }, 'M AM 1', 'Mama'],
    [{ group: { matchedName: 'M AM 1' }, name: 'Family' }, {}, 'M AM 1', 'Family'],
    [{ group: { matchedName: 'unknown' } }, {}, null, null],
  ])(
    'a detection with %j and %j has the plate %j and the name %j',
    async (vehicle, metadata, plate, name) => {
      const { reports } = await readBody(
        unifiProtect,
        JSON.stringify({
          smartDetectTypes: ['licensePlate'],
          metadata: { ...metadata, detectedThumbnails: [{ type: 'vehicle', ...vehicle }] },
        }),
      );
      expect(reports[0]?.event.licensePlateNumber).toBe(plate);
      expect(reports[0]?.event.metadata?.listName ?? null).toBe(name);
    },
  );

  it('reads the answer of smartDetectTrack: one report for each vehicle, with the best plate', async () => {
    const at = (id: string, timestamp: number, more: object) => ({
      id,
      timestamp,
      level: 80,
      coord: [1, 2, 3, 4],
      ...more,
    });
    const track = {
      id: '6921b7b903ac',
      camera: 'dcb7b0d1318653f056420d16',
      event: 'f1d59512b03f',
      payload: [
        at('t1', 1763817386500, {
          objectType: 'vehicle',
          zones: [2],
          attributes: { vehicleType: { val: 'car', confidence: 92 }, color: { val: 'white' } },
        }),
        at('t1', 1763817385975, {
          objectType: 'vehicle',
          licensePlate: { name: 'WWH12', confidenceLevel: 61 },
        }),
        at('t1', 1763817387000, {
          objectType: 'licensePlate',
          licensePlate: { name: 'WWH123', confidenceLevel: 88 },
        }),
        at('t2', 1763817388000, { objectType: 'vehicle' }),
        at('t3', 1763817388000, { objectType: 'person' }),
      ],
    };
    const { reports } = await readBody(unifiProtect, JSON.stringify(track));
    expect(reports).toMatchObject([
      {
        key: 'f1d59512b03f|t1',
        device: ['dcb7b0d1318653f056420d16'],
        occurredAt: 1763817385975,
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: 'WWH123',
          vehicleType: 'car',
          metadata: { confidence: 0.88, color: 'white', box: [1, 2, 3, 4] },
        },
      },
      { key: 'f1d59512b03f|t2', event: { eventType: 'VEHICLE_DETECTION', licensePlateNumber: null } },
    ]);
    const person = { ...track, payload: [at('t3', 1763817388000, { objectType: 'person' })] };
    expect(await readBody(unifiProtect, JSON.stringify(person))).toMatchObject({
      is: 'nothing',
      reports: [],
    });
  });

  it('takes no plate from a detection that is not about plates', async () => {
    const vehicle = { type: 'vehicle', group: { matchedName: 'GARAGE' } };
    const { reports } = await readBody(
      unifiProtect,
      JSON.stringify({ smartDetectTypes: ['vehicle'], metadata: { detectedThumbnails: [vehicle] } }),
    );
    expect(reports.map(({ event }) => event.licensePlateNumber)).toEqual([null]);
  });

  it('takes the image, and the camera of the alarm when the trigger names none', async () => {
    const { reports } = await readBody(
      unifiProtect,
      alarm([{ key: 'vehicle', timestamp: 1758350753 }], {
        thumbnail: dataUrl(jpeg({ comment: 'x'.repeat(99) }), 'image/jpeg'),
      }),
    );
    expect(reports[0]).toMatchObject({
      key: null,
      device: [DEVICE],
      occurredAt: 1758350753000,
      event: { images: [expect.stringMatching(/^\/images\//)] },
    });
  });

  it.each([
    ['a person', alarm([trigger('person')]), 'nothing'],
    ['a test', alarm([trigger('vehicle', { device: 'FAKE_MAC', eventId: 'testEventId' })]), 'status'],
    ['no triggers', alarm([]), 'nothing'],
    ['wrong types', '{"alarm":{"triggers":5,"sources":"x"}}', 'nothing'],
    ['an event about people', '{"smartDetectTypes":["person"],"id":"1"}', 'nothing'],
    ['another maker', '{"webhook_type":"lpr"}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"alarm":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(unifiProtect, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
