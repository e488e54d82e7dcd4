import { describe, expect, it } from 'vitest';
import { withEnoughConfidence } from '../../src/compose.ts';
import type { FormatName } from '../../src/format.ts';
import { formats } from '../../src/formats.ts';
import { Mapper } from '../../src/mapper.ts';
import { mappingProgram } from '../mapping-program.ts';
import { readBody } from './reading.ts';

/** A message of each format with a plate that was read with the given confidence, as JSON or XML writes it. */
const messages: Partial<
  Record<FormatName, readonly (readonly [string, 1 | 100 | 255, (c: string) => string])[]>
> = {
  hikvision: [
    [
      'ANPR',
      100,
      (c) =>
        `<EventNotificationAlert><eventType>ANPR</eventType><ANPR><licensePlate>B1</licensePlate><confidenceLevel>${c}</confidenceLevel></ANPR></EventNotificationAlert>`,
    ],
    [
      'the plate query',
      100,
      (c) =>
        `<Plates><Plate><plateNumber>B1</plateNumber><confidenceLevel>${c}</confidenceLevel></Plate></Plates>`,
    ],
  ],
  dahua: [
    ['the car', 100, (c) => dahua(`"TrafficCar":{"PlateNumber":"B1","PlateConfidence":${c}}`)],
    ['an object', 255, (c) => dahua(`"Object":{"ObjectType":"Plate","Text":"B1","Confidence":${c}}`)],
    ['ITSAPI', 100, (c) => `{"Picture":{"Plate":{"PlateNumber":"B1","Confidence":${c}}}}`],
  ],
  platerecognizer: [
    ['version 1', 1, (c) => `{"hook":{},"data":{"results":[{"plate":"B1","score":${c}}]}}`],
    [
      'version 2',
      1,
      (c) => `{"hook":{},"data":{"results":[{"plate":{"props":{"plate":[{"value":"B1","score":${c}}]}}}]}}`,
    ],
  ],
  openalpr: [
    [
      'a group',
      100,
      (c) => `{"data_type":"alpr_group","best_plate_number":"B1","best_confidence":${c},"best_uuid":"u"}`,
    ],
    ['a result', 100, (c) => `{"data_type":"alpr_results","results":[{"plate":"B1","confidence":${c}}]}`],
  ],
  frigate: [
    [
      'an event',
      1,
      (c) =>
        `{"type":"end","after":{"id":"1.0-a","label":"car","camera":"c","recognized_license_plate":"B1","recognized_license_plate_score":${c}}}`,
    ],
    ['an update', 1, (c) => `{"type":"lpr","id":"1.0-a","camera":"c","plate":"B1","score":${c}}`],
  ],
  'axis-lpv': [['an event', 1, (c) => `{"carID":"1","plateUTF8":"B1","plateConfidence":"${c}"}`]],
  'unifi-protect': [
    [
      'an alarm',
      100,
      (c) =>
        `{"alarm":{"triggers":[{"key":"license_plate_unknown","value":"B1","device":"d","confidence":${c}}]}}`,
    ],
    [
      'a detection',
      100,
      (c) =>
        `{"smartDetectTypes":["licensePlate"],"metadata":{"detectedThumbnails":[{"type":"vehicle","group":{"matchedName":"B1","confidence":${c}}}]}}`,
    ],
  ],
  tvt: [
    [
      'a plate',
      100,
      (c) =>
        `<config><smartType>VEHICLE</smartType><listInfo><item><plateNumber>B1</plateNumber><PlateConfidence>${c}</PlateConfidence></item></listInfo></config>`,
    ],
  ],
  milesight: [['a recognition', 100, (c) => `{"device":"d","plate":"B1","confidence":"${c}"}`]],
  verkada: [
    ['a webhook', 1, (c) => `{"webhook_type":"lpr","data":{"license_plate_number":"B1","confidence":${c}}}`],
  ],
  tattile: [['a message', 100, (c) => `<Msg><PLATE_STRING>B1</PLATE_STRING><OCRSCORE>${c}</OCRSCORE></Msg>`]],
  codeproject: [
    [
      'a module',
      1,
      (c) =>
        `{"camera":"c","ai_dump":[{"api":"alpr","found":{"predictions":[{"plate":"B1","confidence":${c}}]}}]}`,
    ],
    ['a memo', 100, (c) => `{"camera":"c","memo":"B1:${c}%"}`],
  ],
  huawei: [
    [
      'a vehicle',
      100,
      (c) => `{"message_id":"m","vehicles":[{"license_plate_id":"B1","license_plate_confidence":${c}}]}`,
    ],
  ],
  uniview: [
    [
      'a vehicle',
      100,
      (c) => `{"VehicleInfoList":[{"PlateAttributeInfo":{"PlateNo":"B1","Confidence":${c}}}]}`,
    ],
  ],
  genetec: [
    [
      'a template',
      100,
      (c) => `{"CameraName":"c","Plate":"B1","DateUtc":"1/2/2026","ConfidenceScore":"${c}"}`,
    ],
  ],
  fiware: [
    [
      'a vehicle',
      1,
      (c) =>
        `{"id":"1","type":"AnprFlowObserved","observedVehicle":{"licensePlate":{"identifier":"B1","confidence":${c}}}}`,
    ],
    [
      'an entity in percent',
      100,
      (c) =>
        `{"id":"1","type":"TrafficViolation","licensePlate":{"type":"Property","value":"B1"},"confidence":{"type":"Property","value":${c},"unitCode":"P1"}}`,
    ],
  ],
  mapped: [
    ['a mapping with a scale', 100, (c) => `{"plate":"B1","confidence":${c},"confidenceScale":100}`],
    ['a mapping without a scale', 1, (c) => `{"plate":"B1","confidence":${c}}`],
  ],
};

function dahua(data: string): string {
  return `{"Events":[{"Code":"TrafficJunction","Data":{${data}}}]}`;
}

const WITHOUT_CONFIDENCE: readonly FormatName[] = ['axis-aoa', 'ops243', 'datex2', 'sensorthings', 'gantry'];

/** What becomes of a plate with that confidence where 0.5 is required. */
async function outcomeOf(name: FormatName, body: string) {
  const format = formats.find((each) => each.name === name);
  if (!format) throw new Error(`no format ${name}`);
  using mapper = new Mapper(mappingProgram);
  const options = { mapping: 'body', minConfidence: 0.5 };
  const [report] =
    name === 'mapped'
      ? (
          await format.read(
            {
              parts: [
                {
                  name: null,
                  fileName: null,
                  contentType: null,
                  content: { kind: 'json', value: JSON.parse(body) },
                },
              ],
              path: '',
              topic: null,
              receivedAt: 0,
            },
            { options, zone: 'utc', map: mapper.map },
          )
        ).reports
      : (await readBody(format, body, { options })).reports;
  if (!report) throw new Error('no report');
  const { event, note } = withEnoughConfidence(report.event, options);
  return [report.event.metadata?.confidence, event.licensePlateNumber, note];
}

describe('The confidence of a plate', () => {
  it('is tested for every format', () => {
    expect([...Object.keys(messages), ...WITHOUT_CONFIDENCE].sort()).toEqual(
      formats.map(({ name }) => name).sort(),
    );
  });

  const cases = Object.entries(messages).flatMap(([name, kinds]) =>
    kinds.map(([kind, scale, body]) => [name as FormatName, kind, scale, body] as const),
  );

  it.each(cases)(
    'of %s (%s) is out of %d: from 0, which is the worst, to certainty',
    async (name, _, scale, body) => {
      const at = (part: number) => outcomeOf(name, body(String(part * scale)));
      expect(await at(0)).toEqual([0, null, expect.stringMatching(/confidence of 0 is less than 0\.5/)]);
      expect(await at(0.2)).toEqual([0.2, null, expect.stringMatching(/confidence of 0\.2 is less/)]);
      expect(await at(1)).toEqual([1, 'B1', null]);
    },
  );

  it.each(cases.filter(([, , scale]) => scale > 1))(
    'of 1 in %s (%s) is the worst but for 0, and not certainty',
    async (name, _, scale, body) => {
      const [confidence, plate] = await outcomeOf(name, body('1'));
      expect(confidence).toBe(Math.round(10_000 / scale) / 10_000);
      expect(plate).toBeNull();
    },
  );

  it.each(cases.filter(([name, kind]) => kind !== 'a mapping without a scale' || name !== 'mapped'))(
    'of %s (%s) that is not on the scale is named, and the plate kept',
    async (name, _, scale, body) => {
      const value = String(2 * scale);
      expect(await outcomeOf(name, body(value))).toEqual([
        undefined,
        'B1',
        `The confidence of the plate is unknown: ${value} is not on the scale of the device`,
      ]);
    },
  );

  it.each([
    ['milesight', '0.98', 0.98],
    ['milesight', '1.0', 1],
    ['huawei', '0.2', 0.2],
  ] as const)('of %s is a fraction if it is written as one, such as %s', async (name, text, confidence) => {
    const body = messages[name]?.[0]?.[2](text) ?? '';
    expect((await outcomeOf(name, body))[0]).toBe(confidence);
  });
});
