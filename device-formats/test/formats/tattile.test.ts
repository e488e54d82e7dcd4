import { describe, expect, it } from 'vitest';
import { jpeg, png } from '../../../server/test/sample-images.ts';
import { tattile } from '../../src/formats/tattile.ts';
import { addressOf, expectCalm, inShort } from './bodies.ts';
import { readBody, readPayload } from './reading.ts';

const xml = (fields: string, root = 'MESSAGE') =>
  `<${root}><DEVICE_SN>T1</DEVICE_SN><DATE>2024-03-21</DATE><TIME>12-34-56-789</TIME>${fields}</${root}>`;
const first = async (body: string, sent = {}) => (await readBody(tattile, body, sent)).reports[0];

describe('Tattile', () => {
  it('reads tattile-msg-doc.xml, whose time has no zone', async () => {
    const reading = await readPayload(tattile, 'tattile-msg-doc.xml', { zone: 'Europe/Madrid' });
    expect(inShort(reading)).toEqual([
      ['2024-03-21T14:42:10.000Z', 'PLATE_RECOGNITION', '7459MTL', null, null],
    ]);
    expect(reading.reports).toMatchObject([
      {
        key: 'TAT1234567/2024-03-21/15:42:10/7459MTL',
        device: ['TAT1234567', 'Camara Puente Norte'],
        event: {
          images: [],
          tags: ['Tattile', 'Camara Puente Norte'],
          metadata: {
            vendor: 'tattile',
            confidence: 0.925,
            confidenceRaw: '92.5',
            direction: 'GOAWAY',
            lane: '1',
            laneName: 'Carril derecho',
            country: 'ESP',
            countryName: 'España',
            box: { x1: '120', y1: '360', x2: '320', y2: '420' },
          },
        },
      },
    ]);
  });

  it.each([
    ['<TIME>12-34-56-789</TIME>', '2024-03-21T11:34:56.789Z'],
    ['<TIME>12:34:56.789</TIME>', '2024-03-21T11:34:56.789Z'],
    ['<TIME>12-34-56</TIME>', '2024-03-21T11:34:56.000Z'],
    ['<TIME>123456</TIME>', '2024-03-21T11:34:56.000Z'],
    ['<TIME>noon</TIME>', '1970-01-01T00:00:00.000Z'],
  ])('reads the time %s', async (time, expected) => {
    const body = xml('<PLATE_STRING>A1</PLATE_STRING>').replace('<TIME>12-34-56-789</TIME>', time);
    expect(new Date((await first(body))?.occurredAt ?? 0).toISOString()).toBe(expected);
  });

  it('reads other roots, other firmware and JSON, with the image of the scene first', async () => {
    const [scene, plate] = [jpeg({ comment: 'x'.repeat(200) }), png({ shade: 6 })];
    const fields = `<PLATE_STRING>A1</PLATE_STRING><OCRSCORE>093</OCRSCORE><IMAGE_OCR>${plate.toString('base64')}</IMAGE_OCR><IMAGE_CTX>${scene.toString('base64')}</IMAGE_CTX>`;
    for (const root of ['Msg', 'MESSAGE', 'event']) {
      expect((await first(xml(fields, root)))?.event).toMatchObject({
        licensePlateNumber: 'A1',
        images: [addressOf(scene), addressOf(plate)],
        metadata: { confidence: 0.93, confidenceRaw: '093' },
      });
    }
    expect((await first('{"plate_string":"B2","DATE":"21/03/2024","TIME":"12:00:00"}'))?.occurredAt).toBe(
      Date.UTC(2024, 2, 21, 11),
    );
  });

  it.each([
    ['<PLATE_STRING>unknown</PLATE_STRING>', ['VEHICLE_DETECTION', null, null, null]],
    ['<PLATE_STRING>unlicensed</PLATE_STRING>', ['VEHICLE_DETECTION', null, null, null]],
    ['<PLATE_STRING/>', ['VEHICLE_DETECTION', null, null, null]],
    ['<PLATE_STRING>A1</PLATE_STRING><SPEED>0</SPEED>', ['PLATE_RECOGNITION', 'A1', null, null]],
    [
      '<PLATE_STRING>A1</PLATE_STRING><SPEED>61</SPEED><SPEED_LIMIT>50</SPEED_LIMIT>',
      ['TRAFFIC_VIOLATION', 'A1', 61, 'SPEEDING'],
    ],
  ])('reads %s', async (fields, expected) => {
    const found = (await first(xml(fields)))?.event;
    expect([found?.eventType, found?.licensePlateNumber, found?.vehicleSpeed, found?.violationType]).toEqual(
      expected,
    );
  });

  it('tells vehicles without a plate at the same time in different lanes apart', async () => {
    const keyOf = async (fields: string) => (await first(xml(fields)))?.key;
    const lane = (number: number) => `<LANE_ID>${number}</LANE_ID>`;
    expect(await keyOf(`<PLATE_STRING/>${lane(1)}`)).not.toBe(await keyOf(`<PLATE_STRING/>${lane(2)}`));
    const plate = '<PLATE_STRING>A1</PLATE_STRING>';
    expect(await keyOf(`${plate}${lane(1)}`)).toBe(await keyOf(`${plate}${lane(2)}`));
  });

  it('takes messages about the device as liveness signals', async () => {
    expect(await readBody(tattile, xml('<STATUS>OK</STATUS>'))).toMatchObject({
      is: 'status',
      device: ['T1'],
    });
  });

  it('creates no event from what it does not understand', () => expectCalm(tattile));

  it('describes the settings of the camera', () => {
    const values = {
      url: 'http://10.0.0.5/gateway/tattile/abc',
      token: 'abc',
      username: 'gate',
      password: 'secret',
    };
    for (const value of [values.url, 'gate', 'secret', 'PLATE_STRING']) {
      expect(tattile.instructions(values).join('\n')).toContain(value);
    }
  });
});
