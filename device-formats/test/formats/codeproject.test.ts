import { describe, expect, it } from 'vitest';
import { webp } from '../../../server/test/sample-images.ts';
import { codeproject } from '../../src/formats/codeproject.ts';
import { readBody, readPayload } from './reading.ts';

const alert = (more: object): string =>
  JSON.stringify({ camera: 'ALPR2', timestamp: '2025-07-15T13:59:04Z', ...more });

const dump = (plates: readonly object[], more: object = {}) => [
  { api: 'alpr', found: { success: true, predictions: plates, ...more } },
];

describe('Blue Iris with CodeProject.AI', () => {
  it('codeproject-ai-alpr-dump.json: two plates, each with its index in the key', async () => {
    const { reports } = await readPayload(codeproject, 'codeproject-ai-alpr-dump.json');
    expect(reports).toMatchObject([
      {
        key: '|Tue, 19 Nov 2024 23:51:20 GMT|T121396C|0',
        device: [],
        occurredAt: Date.UTC(2024, 10, 19, 23, 51, 20),
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: 'T121396C',
          metadata: { vendor: 'codeproject', confidence: 0.9422, box: [469, 557, 614, 677], module: 'ALPR' },
        },
      },
      {
        key: '|Tue, 19 Nov 2024 23:51:20 GMT|KYJ5|1',
        event: { licensePlateNumber: 'KYJ5', metadata: { confidence: 0.721 } },
      },
    ]);
  });

  it('blueiris-alpr-database-post.json: the plates of ai_dump, at the time of the alert', async () => {
    const { reports } = await readPayload(codeproject, 'blueiris-alpr-database-post.json');
    expect(reports).toMatchObject([
      {
        key: 'ALPR2|2025-07-15T13:59:04Z|9RPX658|0',
        device: ['ALPR2'],
        occurredAt: Date.UTC(2025, 6, 15, 13, 59, 4),
        event: {
          licensePlateNumber: '9RPX658',
          images: [],
          tags: ['blueiris', 'ALPR2'],
          metadata: { confidence: 0.9401, clip: 'TTTT@TTTT', path: 'LLLL.LLLL' },
        },
      },
      { key: 'ALPR2|2025-07-15T13:59:04Z|HF7499|1', event: { licensePlateNumber: 'HF7499' } },
    ]);
  });

  it.each([
    ['Tue, 19 Nov 2024 23:51:20 GMT', Date.UTC(2024, 10, 19, 23, 51, 20)],
    ['Sun 09 Feb 2025 03:46:58 GMT', Date.UTC(2025, 1, 9, 3, 46, 58)],
    ['Sun, 9 Feb 2025 03:46:58 GMT', Date.UTC(2025, 1, 9, 3, 46, 58)],
    ['yesterday', null],
  ])('both spellings of dates: %s', async (timestampUTC, expected) => {
    const { reports } = await readBody(
      codeproject,
      JSON.stringify({ camera: 'c', ai_dump: dump([{ plate: 'A1' }], { timestampUTC }) }),
    );
    expect(reports[0]?.occurredAt).toBe(expected);
  });

  it('a time without an offset is in the zone of the connection', async () => {
    const { reports } = await readBody(
      codeproject,
      alert({ plate_number: 'A1', timestamp: '2025-07-15 13:59:04' }),
      {
        zone: 'America/New_York',
      },
    );
    expect(reports[0]?.occurredAt).toBe(Date.UTC(2025, 6, 15, 17, 59, 4));
  });

  it('a WebP image', async () => {
    const padded = Buffer.concat([webp(), Buffer.alloc(80)]);
    padded.writeUInt32LE(padded.length - 8, 4);
    padded.writeUInt32LE(padded.length - 20, 16);
    const { reports } = await readBody(
      codeproject,
      alert({ plate_number: 'A1', Image: padded.toString('base64') }),
    );
    expect(reports[0]?.event.images).toEqual([expect.stringMatching(/^\/images\/[0-9a-f]{64}$/)]);
  });

  it.each([
    ['car:87%,SGX7923G:94%', [['SGX7923G', 0.94]], 'car'],
    ['DayPlate [TÖLSL123]:71.5%', [['TÖLSL123', 0.715]], null],
    ['Plate AB123:80%, truck:60%, AB123:70%', [['AB123', 0.8]], 'truck'],
    [
      'AB1:90%,CD2:80%,car:70%',
      [
        ['AB1', 0.9],
        ['CD2', 0.8],
      ],
      null,
    ],
    ['car:90%,person:50%', [[null, undefined]], 'car'],
    ['car:90%,Plate: AB 12:80%', [['AB 12', 0.8]], 'car'],
    ['USPS:91%,truck:70%', [[null, undefined]], 'truck'],
    ['car:80%,BMW X5:77%,Face [BOB2]:60%', [[null, undefined]], 'car'],
  ])('the memo %s', async (memo, plates, vehicleType) => {
    const { reports } = await readBody(codeproject, alert({ memo }));
    expect(reports.map(({ event }) => [event.licensePlateNumber, event.metadata?.confidence])).toEqual(
      plates,
    );
    expect(reports[0]?.event.vehicleType).toBe(vehicleType);
  });

  it('takes a label of the module for plates only if it says that it is a plate', async () => {
    const { reports } = await readBody(
      codeproject,
      alert({ ai_dump: dump([{ label: 'Plate: SGX7923G', confidence: 0.9 }]) }),
    );
    expect(reports[0]?.event.licensePlateNumber).toBe('SGX7923G');
    const object = await readBody(
      codeproject,
      alert({ ai_dump: dump([{ label: 'Toyota', confidence: 0.9 }]), memo: 'car:80%' }),
    );
    expect(object.reports.map(({ event }) => event.licensePlateNumber)).toEqual([null]);
  });

  it('the type of the vehicle comes from the object detector, when there is one plate', async () => {
    const { reports } = await readBody(
      codeproject,
      alert({
        ai_dump: [
          ...dump([{ plate: 'A1', confidence: 0.9 }]),
          {
            api: 'objects',
            found: {
              predictions: [
                { label: 'person', confidence: 0.99 },
                { label: 'car', confidence: 0.4 },
                { label: 'truck', confidence: 0.8 },
              ],
            },
          },
        ],
      }),
    );
    expect(reports).toHaveLength(1);
    expect(reports[0]?.event).toMatchObject({ licensePlateNumber: 'A1', vehicleType: 'truck' });
  });

  it('ai_dump as a single object, and a form', async () => {
    const [single] = dump([{ plate: 'A1' }]);
    const one = await readBody(codeproject, alert({ ai_dump: single }));
    const form = await readBody(codeproject, 'plate_number=A1&camera=c&timestamp=2025-07-15T13:59:04Z', {
      contentType: 'application/x-www-form-urlencoded',
    });
    expect(one.reports[0]?.event.licensePlateNumber).toBe('A1');
    expect(form.reports[0]).toMatchObject({
      key: 'c|2025-07-15T13:59:04Z|A1|0',
      event: { licensePlateNumber: 'A1' },
    });
  });

  it.each(['unknown', '--', ''])('treats %j as no plate', async (plate) => {
    const { reports } = await readBody(codeproject, alert({ ai_dump: dump([{ plate, confidence: 0.3 }]) }));
    expect(reports[0]?.event).toMatchObject({ eventType: 'VEHICLE_DETECTION', licensePlateNumber: null });
  });

  it.each([
    ['nothing seen', alert({ ai_dump: dump([]), plate_number: '', memo: 'person:80%' }), 'nothing'],
    ['macros that were not filled in', alert({ plate_number: '&PLATE', memo: '&MEMO' }), 'nothing'],
    ['wrong types', alert({ ai_dump: 5, memo: {}, plate_number: [] }), 'nothing'],
    ['another maker', '{"alarm":{}}', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"ai_dump":', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(codeproject, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
