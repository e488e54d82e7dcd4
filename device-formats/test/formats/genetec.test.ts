import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { genetec } from '../../src/formats/genetec.ts';
import { readBody } from './reading.ts';

const image = (width: number) => jpeg({ width, comment: 'x'.repeat(99) }).toString('base64');

const template = (more: object = {}): string =>
  JSON.stringify({
    CameraName: 'Gate 1',
    Plate: 'ABC123',
    DateUtc: '25/12/2025',
    TimeUtc: '11:49:22',
    ConfidenceScore: '87',
    Attributes: { 'Relative Motion': 'Approaching', 'Vehicle Type': '-', State: 'QC', 'Vehicle Speed': '42' },
    ...more,
  });

// The sample message of the SharpOS guides.
const sharp = {
  ContextCameraName: 'Context Camera',
  ContextImage: '',
  Id: '32cf870a-46aa-4cfd-914b-00062d98e93a',
  Latitude: 0.0,
  Longitude: 0.0,
  LprCameraName: 'Lpr Camera',
  PlateAnalytics: [
    { Key: 'State Name', Score: -1.0, Value: '-' },
    { Key: 'Vehicle Type', Score: 1.0, Value: '-' },
    { Key: 'Context', Score: 1.0, Value: 'US' },
    { Key: 'Confidence Score', Score: 1.0, Value: '95' },
  ],
  PlateImage: '',
  PlateRead: 'AA7D2',
  SourceUrl: 'SHARPXS0014',
  Timestamp: '2015-08-29T08:42:45.797',
};

describe('Genetec', () => {
  it('a template: plate, confidence out of 100, and a date with the day first', async () => {
    const { is, reports } = await readBody(
      genetec,
      template({ ContextImage: image(5), PlateImage: image(6) }),
    );
    expect(is).toBe('reports');
    expect(reports).toMatchObject([
      {
        key: 'Gate 1|25/12/2025|11:49:22|ABC123|',
        device: ['Gate 1'],
        occurredAt: Date.UTC(2025, 11, 25, 11, 49, 22),
        event: {
          eventType: 'PLATE_RECOGNITION',
          licensePlateNumber: 'ABC123',
          vehicleType: null,
          vehicleSpeed: 42,
          images: [expect.stringMatching(/^\/images\//), expect.stringMatching(/^\/images\//)],
          tags: ['genetec', 'Gate 1'],
          metadata: {
            vendor: 'genetec',
            confidence: 0.87,
            confidenceRaw: '87',
            direction: 'Approaching',
            region: 'QC',
          },
        },
      },
    ]);
  });

  it('a date with the month first, if that is nearer to the receipt', async () => {
    const at = async (DateUtc: string, receivedAt: string) => {
      const { reports } = await readBody(genetec, template({ DateUtc }), {
        receivedAt: Date.parse(receivedAt),
      });
      return new Date(reports[0]?.occurredAt ?? 0).toISOString();
    };
    expect(await at('11/05/2026', '2026-11-05T11:49:25Z')).toBe('2026-11-05T11:49:22.000Z');
    expect(await at('11/05/2026', '2026-05-11T11:49:25Z')).toBe('2026-05-11T11:49:22.000Z');
    expect(await at('05/11/2026', '2026-05-12T09:00:00Z')).toBe('2026-05-11T11:49:22.000Z');
  });

  it('a read event of SharpOS: a time without an offset is UTC, and - means no value', async () => {
    const { reports } = await readBody(genetec, JSON.stringify(sharp));
    expect(reports).toMatchObject([
      {
        key: sharp.Id,
        device: ['Lpr Camera', 'SHARPXS0014', 'Context Camera'],
        occurredAt: Date.UTC(2015, 7, 29, 8, 42, 45, 797),
        event: {
          licensePlateNumber: 'AA7D2',
          location: null,
          images: [],
          metadata: { confidence: 0.95, country: 'US' },
        },
      },
    ]);
    expect(reports[0]?.event.metadata).not.toHaveProperty('region');
  });

  it('the same in XML, with up to seven digits of a second', async () => {
    const { reports } = await readBody(
      genetec,
      `<Plate><ContextCameraName>Context Camera</ContextCameraName><ContextImage/><Id>32cf</Id>
       <Latitude>0.0</Latitude><Longitude>0.0</Longitude><LprCameraName>Lpr Camera</LprCameraName>
       <PlateAnalytics><PlateAnalytics><Key>State Name</Key><Score>-1.0</Score><Value>-</Value></PlateAnalytics>
       <PlateAnalytics><Key>Confidence Score</Key><Score>1</Score><Value>100</Value></PlateAnalytics></PlateAnalytics>
       <PlateImage/><PlateRead>TÖL 7D2</PlateRead><SourceUrl>S</SourceUrl>
       <Timestamp>2015-10-21T21:35:04.8627622+00:00</Timestamp></Plate>`,
    );
    expect(reports).toMatchObject([
      {
        key: '32cf',
        occurredAt: Date.UTC(2015, 9, 21, 21, 35, 4, 862),
        event: { licensePlateNumber: 'TÖL 7D2', metadata: { confidence: 1 } },
      },
    ]);
  });

  it('a template in XML with the year first', async () => {
    const { reports } = await readBody(
      genetec,
      '<AutoVu><Plate>A1</Plate><State>QC</State><UTCDate>2025:12:25</UTCDate><UTCTime>11:49:22.500</UTCTime><CameraName>C</CameraName><LongitudeX>-73.5</LongitudeX><LatitudeY>45.5</LatitudeY><Guid>G</Guid></AutoVu>',
    );
    expect(reports).toMatchObject([
      {
        key: 'G',
        occurredAt: Date.UTC(2025, 11, 25, 11, 49, 22, 500),
        event: { location: { latitude: 45.5, longitude: -73.5 }, metadata: { region: 'QC' } },
      },
    ]);
  });

  it.each([
    ['10/01/2026', '11:49:22', Date.UTC(2026, 0, 10, 11, 49, 22)],
    ['12/25/2025', '11:49:22', Date.UTC(2025, 11, 25, 11, 49, 22)],
    ['2025-12-25', '11:49:22', Date.UTC(2025, 11, 25, 11, 49, 22)],
    // The first of December is still to come when this arrives in July.
    ['01/12/2026', '11:49:22', Date.UTC(2026, 0, 12, 11, 49, 22)],
    ['31/31/2025', '11:49:22', null],
    ['25/12/2025', 'noon', null],
  ])('dates dd/mm/yyyy: %s %s', async (DateUtc, TimeUtc, expected) => {
    const { reports } = await readBody(genetec, template({ DateUtc, TimeUtc }), { zone: 'Asia/Tokyo' });
    expect(reports[0]?.occurredAt).toBe(expected);
  });

  it.each([
    ['km/h', 42],
    ['mph', 67.59],
  ] as const)('a speed of 42 in %s is %s km/h', async (speedUnit, expected) => {
    const { reports } = await readBody(genetec, template(), { options: { speedUnit } });
    expect(reports[0]?.event.vehicleSpeed).toBe(expected);
  });

  it.each(['', 'unknown', 'NOPLATE', null])('treats %j as no plate', async (Plate) => {
    const { reports } = await readBody(genetec, template({ Plate, Attributes: {} }));
    expect(reports[0]?.event).toMatchObject({ eventType: 'VEHICLE_DETECTION', licensePlateNumber: null });
  });

  it('keys in another case, and several reads in one message', async () => {
    const { reports } = await readBody(
      genetec,
      '[{"camera_name":"c","plate":"A1","date_utc":"25/12/2025","time_utc":"1:02:03"},{"cameraName":"c","plate":"B2","dateUtc":"25/12/2025","timeUtc":"1:02:03"}]',
    );
    expect(reports.map(({ key, occurredAt }) => [key, occurredAt])).toEqual([
      ['c|25/12/2025|1:02:03|A1|0', Date.UTC(2025, 11, 25, 1, 2, 3)],
      ['c|25/12/2025|1:02:03|B2|1', Date.UTC(2025, 11, 25, 1, 2, 3)],
    ]);
  });

  it.each([
    ['another maker', '{"alarm":{}}', 'nothing'],
    ['another XML', '<EventNotificationAlert><ANPR/></EventNotificationAlert>', 'nothing'],
    ['wrong types', '[5,"x",{"DateUtc":5}]', 'nothing'],
    ['an empty body', '', 'nothing'],
    ['broken JSON', '{"Plate":', 'unreadable'],
    ['broken XML', '<Plate><PlateRead>', 'unreadable'],
  ])('without a report: %s', async (_, body, is) => {
    expect(await readBody(genetec, body)).toMatchObject({ is, reports: [], note: expect.any(String) });
  });
});
