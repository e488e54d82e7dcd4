import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { openalpr } from '../../src/formats/openalpr.ts';
import { readBody, readPayload } from './reading.ts';

const Y = 'YYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYYY-1234';
const CAPTURED = '3QWN7ANABCV4EKZZLYKOSWKNAGGVW5IFQ5UAYYF6-237528343';
const ALERT = '63PHH1MHEXF9U245NFI66RGPUXTQEREKAJI7K44Y-177622-1627675927855';

const single = {
  'openalpr-alpr_group-v2-captured-1.json': {
    key: `${CAPTURED}-1515080450621#0`,
    device: ['237528343', '3QWN7ANABCV4EKZZLYKOSWKNAGGVW5IFQ5UAYYF6'],
    occurredAt: 1515080449867,
    event: {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '2BH375',
      vehicleType: 'suv-crossover',
      vehicleSpeed: null,
      tags: ['openalpr'],
      metadata: {
        vendor: 'openalpr',
        confidence: 0.9497,
        region: 'ma',
        country: 'us',
        make: 'bmw',
        model: 'bmw_x3',
        color: 'white',
      },
    },
    passage: { id: `${CAPTURED}-1515080450621#0`, isLast: true, quality: 400 },
  },
  'openalpr-alpr_group-v2.json': {
    key: `${Y}-1562681122676#0`,
    occurredAt: 1562681121504,
    event: {
      licensePlateNumber: 'D2651BF',
      location: { latitude: 37.635986328125, longitude: -79.2059326171875 },
      metadata: { confidence: 0.9388, confidenceRaw: 93.877067565918 },
    },
    passage: { isLast: true },
  },
  'openalpr-alpr_alert.json': {
    key: `${ALERT}#0`,
    device: ['1000', 'unnamed', 'TESTTESTTESTTESTTESTTESTTESTTESTTESTTEST'],
    occurredAt: 1630695989342,
    event: {
      licensePlateNumber: '2BH375',
      tags: ['openalpr', 'unnamed', 'block'],
      // They end too early, as a capture that was shortened, and are stored all the same.
      images: Array.from({ length: 3 }, () => expect.stringMatching(/^\/images\/[0-9a-f]{64}$/)),
      metadata: { listName: 'blacklist', listType: 'Blacklist', alert: 'test', year: '2010-2014' },
    },
    passage: { quality: 600, isLast: true },
  },
};

const result = (more: object = {}) => ({
  data_type: 'alpr_results',
  agent_uid: 'A',
  camera_id: 1,
  uuid: 'A-1-1700000000000',
  epoch_time: 1700000000000,
  results: [{ plate: 'AB123', confidence: 90, plate_index: 0 }],
  ...more,
});

describe('OpenALPR', () => {
  it.each(Object.entries(single))('%s: one event', async (file, expected) => {
    const { is, reports } = await readPayload(openalpr, file);
    expect({ is, count: reports.length }).toEqual({ is: 'reports', count: 1 });
    expect(reports[0]).toMatchObject(expected);
  });

  it('several results in one message fan out with their index in the key', async () => {
    const { reports } = await readPayload(openalpr, 'openalpr-alpr_results-v2.json');
    expect(reports).toMatchObject([
      {
        key: `${Y}-1562681608425#0`,
        occurredAt: 1562681608425,
        event: { licensePlateNumber: 'D2651BF', metadata: { confidence: 0.9294, region: 'us-mo' } },
        passage: { isLast: false },
      },
      {
        key: `${Y}-1562681608425#1`,
        event: { licensePlateNumber: 'CG3L5Y', metadata: { confidence: 0.9474 } },
        passage: { isLast: false },
      },
    ]);
  });

  it('a heartbeat of the agent is a liveness signal', async () => {
    const reading = await readPayload(openalpr, 'openalpr-heartbeat.json');
    expect(reading).toMatchObject({ is: 'heartbeat', reports: [] });
    expect(reading.device?.slice(0, 2)).toEqual(['1234', 'test']);
  });

  it('results then their group are one passage: the group lists the uuids of its results', async () => {
    const uuids = ['A-1-1700000000000', 'A-1-1700000000100', 'A-1-1700000000200'];
    const readings = await Promise.all(
      uuids.map((uuid) => readBody(openalpr, JSON.stringify(result({ uuid })))),
    );
    const held = readings.flatMap(({ reports }) => reports.map(({ passage }) => passage));
    const group = await readBody(
      openalpr,
      JSON.stringify({
        data_type: 'alpr_group',
        agent_uid: 'A',
        camera_id: 1,
        epoch_start: 1700000000000,
        uuids,
        plate_indexes: [0, 0, 0],
        best_uuid: uuids[1],
        best_plate_number: 'AB128',
        best_confidence: 95,
      }),
    );
    const passage = group.reports[0]?.passage;
    expect([passage?.id, ...(passage?.joins ?? [])].sort()).toEqual(held.map((each) => each?.id).sort());
    expect(passage?.isLast).toBe(true);
    for (const each of held) expect(each?.quality).toBeLessThan(passage?.quality ?? 0);
    expect(group.reports[0]?.key).toBe(passage?.id);
  });

  it('two vehicles in the same frames are two passages', async () => {
    const { reports } = await readBody(
      openalpr,
      JSON.stringify({
        data_type: 'alpr_group',
        uuids: ['u1', 'u2'],
        plate_indexes: [1, 0],
        best_uuid: 'u1',
        best_plate_number: 'X1',
      }),
    );
    expect(reports[0]?.passage).toMatchObject({ id: 'u1#1', joins: ['u2#0'] });
  });

  it('a preview of a group is not the last message', async () => {
    const { reports } = await readBody(
      openalpr,
      '{"data_type":"alpr_group","best_uuid":"u","uuids":["u"],"is_preview":true,"best_plate_number":"X1"}',
    );
    expect(reports[0]?.passage).toMatchObject({ isLast: false, quality: 200 });
  });

  it('a vehicle without a plate', async () => {
    const { reports } = await readBody(
      openalpr,
      JSON.stringify({
        data_type: 'vehicle',
        epoch_start: 1634763993249,
        agent_uid: 'A',
        camera_id: 1000,
        best_uuid: 'U',
        vehicle: { body_type: [{ name: 'suv-crossover', confidence: 99.8 }], color: [{ name: 'white' }] },
        vehicle_crop_jpeg: jpeg({ comment: 'x'.repeat(100) }).toString('base64'),
      }),
    );
    expect(reports).toMatchObject([
      {
        key: 'vehicle|U|1634763993249',
        occurredAt: 1634763993249,
        event: {
          eventType: 'VEHICLE_DETECTION',
          licensePlateNumber: null,
          vehicleType: 'suv-crossover',
          images: [expect.stringMatching(/^\/images\//)],
          metadata: { color: 'white' },
        },
      },
    ]);
    expect(reports[0]).not.toHaveProperty('passage');
  });

  it('old agents: no data_type, epochs in seconds, and no groups', async () => {
    const { reports } = await readBody(
      openalpr,
      JSON.stringify({
        uuid: 'f11e0acc',
        camera_id: 1,
        site_id: 'headquarters',
        epoch_time: 1402161050,
        results: [
          { plate: 'S11FRE', confidence: 77.130661 },
          { plate: 'EJLESSIE', confidence: 78.167984 },
        ],
      }),
    );
    expect(reports.map(({ key, occurredAt, passage }) => [key, occurredAt, passage])).toEqual([
      ['f11e0acc#0', 1402161050000, undefined],
      ['f11e0acc#1', 1402161050000, undefined],
    ]);
  });

  it('the key in custom_data is not kept with the event', async () => {
    const { reports } = await readBody(
      openalpr,
      JSON.stringify(result({ custom_data: { API_KEY: 'secret', lot: 4 } })),
    );
    expect(JSON.stringify(reports)).not.toContain('secret');
    expect(reports[0]?.event.metadata?.raw).toMatchObject({ custom_data: { lot: 4 } });
  });

  it.each(['unknown', '', null, 'No Plates'])('treats %j as no plate', async (plate) => {
    const { reports } = await readBody(
      openalpr,
      JSON.stringify(result({ results: [{ plate, confidence: 9 }] })),
    );
    expect(reports[0]?.event).toMatchObject({ licensePlateNumber: null, eventType: 'VEHICLE_DETECTION' });
  });

  it.each([
    ['no plates in the frame', JSON.stringify(result({ results: [] })), 'nothing'],
    ['an unknown type', '{"data_type":"alpr_status"}', 'nothing'],
    ['another maker', '{"alarm":{"triggers":[]}}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"data_type":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(openalpr, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });

  it('reads fields of wrong types as far as possible', async () => {
    const bodies = [
      '{"data_type":"alpr_group","uuids":5,"best_plate":[],"vehicle":7,"gps_latitude":"x"}',
      '{"data_type":"alpr_alert","group":"x"}',
      '{"data_type":"alpr_results","results":[1,null]}',
      '{"data_type":"vehicle","vehicle":[]}',
    ];
    for (const body of bodies) {
      const { reports } = await readBody(openalpr, body);
      expect(reports[0]?.event.eventType).toBe('VEHICLE_DETECTION');
      expect(reports[0]?.key).toBeNull();
    }
  });
});
