import { readdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { type Format, type FormatName, TooManyVehicles } from '../../src/format.ts';
import { formatNamed, formats } from '../../src/formats.ts';
import { Mapper } from '../../src/mapper.ts';
import type { Content, MessagePart, XmlElement } from '../../src/message.ts';
import { readParts } from '../../src/read-parts.ts';
import { splitBody } from '../../src/split-body.ts';
import { mappingProgram } from '../mapping-program.ts';
import { devicePayload, readBody } from './reading.ts';

const files = readdirSync(new URL('../messages/', import.meta.url)).filter(
  (name) => !name.endsWith('.source') && name !== 'README.md',
);

/** Values that take the place of each value of a payload in turn. */
const STRANGE: readonly unknown[] = [
  ...[null, 0, -1, true, '', 'x', [], [null], {}, { a: [[{}]] }, { toString: null }],
  // Patterns that try every blank in turn would take minutes.
  `2026${' '.repeat(50_000)}x`,
];
const STRANGE_TEXTS = STRANGE.filter((each) => typeof each === 'string');

/** Copies of the JSON value in which one member after the other has been replaced. */
function* jsonVariations(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value).slice(0, 40)) {
    const replaced = (by: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), by) : { ...value, [key]: by };
    for (const strange of STRANGE) yield replaced(strange);
    for (const inner of jsonVariations(each)) yield replaced(inner);
  }
}

/** Copies of the element in which one text, attribute or child after the other has been replaced or removed. */
function* xmlVariations(element: XmlElement): Generator<XmlElement> {
  for (const text of STRANGE_TEXTS) yield { ...element, text };
  for (const name of Object.keys(element.attributes))
    for (const text of STRANGE_TEXTS)
      yield { ...element, attributes: { ...element.attributes, [name]: text } };
  for (const [index, child] of element.children.slice(0, 40).entries()) {
    yield { ...element, children: element.children.toSpliced(index, 1) };
    yield { ...element, children: element.children.toSpliced(index, 0, child) };
    for (const inner of xmlVariations(child))
      yield { ...element, children: element.children.with(index, inner) };
  }
}

/** Copies of the text in which one word after the other has been replaced. */
function* textVariations(text: string): Generator<string> {
  for (const { 0: word, index } of text.matchAll(/[^\s=,;:]+/g))
    for (const strange of STRANGE_TEXTS)
      yield text.slice(0, index) + strange + text.slice(index + word.length);
}

function* contentVariations(content: Content): Generator<Content> {
  if (content.kind === 'json')
    for (const value of jsonVariations(content.value)) yield { kind: 'json', value };
  else if (content.kind === 'xml')
    for (const root of xmlVariations(content.root)) yield { kind: 'xml', root };
  else if (content.kind === 'text')
    for (const text of textVariations(content.text)) yield { kind: 'text', text };
}

/** Copies of the parts, a few hundred at most, in which one value after the other has been replaced. */
function* variations(parts: readonly MessagePart[]): Generator<MessagePart[]> {
  for (const [index, part] of parts.entries()) {
    let count = 0;
    for (const content of contentVariations(part.content)) {
      if (++count > 500) break;
      yield parts.with(index, { ...part, content });
    }
  }
}

/** Messages as documented, for formats without a payload of a device that reports a vehicle. */
const DOCUMENTED: Partial<Record<FormatName, object>> = {
  'axis-aoa': {
    topic: 'axis:CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1',
    serial: 'B8A44FC5C075',
    message: {
      data: { active: '1', classTypes: 'truck', objectId: '3', triggerTime: '2026-06-30T10:00:00.123456Z' },
    },
  },
  gantry: { eventType: 'SPEED_DETECTION', vehicleSpeed: 62, timestamp: '2026-01-31T08:15:00Z', tags: ['a'] },
  genetec: {
    LprCameraName: 'Lpr Camera',
    PlateAnalytics: [{ Key: 'Confidence Score', Score: 1, Value: '95' }],
    PlateRead: 'AA7D2',
    Timestamp: '2015-08-29T08:42:45.797',
  },
  huawei: {
    stream_id: '001',
    event_type: 75008,
    timestamp: 1_560_346_229,
    message_id: '0DD1BEA6',
    vehicles: [{ license_plate_id: 'A12345', vehicle_type: 1, speed: 55 }],
  },
  sensorthings: {
    '@iot.id': 7,
    phenomenonTime: '2026-06-01T10:00:00.000Z',
    result: '62',
    Datastream: {
      '@iot.id': 3,
      name: 'Speed of vehicles, lane 1',
      unitOfMeasurement: { name: 'kilometre per hour', symbol: 'km/h' },
      ObservedProperty: { name: 'Vehicle speed' },
      Thing: { name: 'Radar 5' },
    },
    FeatureOfInterest: { feature: { type: 'Point', coordinates: [13.4, 52.5] } },
  },
  mapped: { lp: 'B AB 12', kmh: 61, at: '2026-06-30 14:00:00' },
  uniview: {
    SrcID: 3,
    TimeStamp: 1_782_806_400,
    StructureInfo: {
      ObjInfo: {
        VehicleInfoList: [
          {
            ID: 1,
            PassTime: '20260630100000123',
            PlateAttributeInfo: { PlateNo: 'A12345', Color: 1 },
            VehicleAttributeInfo: { Type: 9, SpeedValue: 61 },
          },
        ],
      },
    },
  },
};

const mapper = new Mapper(mappingProgram);
afterAll(() => mapper[Symbol.dispose]());
const context = {
  options: { mapping: '{"plate": body.lp, "speed": body.kmh, "time": body.at}' },
  zone: 'Europe/Berlin',
  map: mapper.map,
};

/** The parts of the payloads that the format understands, and of the documented one. */
async function understood(format: Format): Promise<MessagePart[][]> {
  const documented = DOCUMENTED[format.name];
  const bodies = documented
    ? [Buffer.from(JSON.stringify(documented))]
    : await Promise.all(files.map((file) => devicePayload(file)));
  const found: MessagePart[][] = [];
  for (const body of bodies) {
    const parts = readParts(splitBody(null, body).parts);
    if ((await read(format, parts)).reports.length > 0) found.push(parts);
  }
  return found;
}

const read = async (format: Format, parts: readonly MessagePart[]) =>
  format.read({ parts, path: '', topic: null, receivedAt: Date.UTC(2026, 6, 1) }, context);

describe.each(formats.map((format) => [format.name, format] as const))('the format %s', (_, format) => {
  it('reads the payload of every maker without an exception', async () => {
    for (const file of files) {
      const reading = await readBody(format, await devicePayload(file));
      expect(reading.reports.length > 0, file).toBe(reading.is === 'reports');
      if (reading.is !== 'reports') expect(reading.note, file).toMatch(/\S/);
    }
  });

  it('reads payloads with values of wrong types without an exception', async () => {
    let count = 0;
    for (const parts of await understood(format)) {
      for (const varied of variations(parts)) {
        await read(format, varied).catch((error: unknown) => {
          if (!(error instanceof TooManyVehicles)) throw error;
        });
        count++;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  it('explains what to enter, with the exact values', () => {
    const values = { url: 'http://host/gateway/x/T0KEN', token: 'T0KEN', username: 'USER', password: 'PASS' };
    const steps = format.instructions(values);
    expect(steps.length).toBeGreaterThanOrEqual(4);
    expect(steps.length).toBeLessThanOrEqual(9);
    expect(steps.join('\n')).toMatch(/T0KEN|USER|PASS/);
  });
});

// A format that accepts messages of another maker as its own would hide a wrong address.
it.each([
  ['platerecognizer', /^platerecognizer/],
  ['openalpr', /^openalpr/],
  ['frigate', /^frigate/],
  ['axis-lpv', /^axis/],
  ['axis-aoa', /^axis-aoa/],
  ['unifi-protect', /^unifi/],
  ['verkada', /^verkada/],
  ['codeproject', /^(?:codeproject|blueiris)/],
  ['genetec', /^genetec/],
] as const)('the format %s reads events in its own payloads alone', async (name, own) => {
  for (const file of files) {
    const { reports, is } = await readBody(formatNamed(name), await devicePayload(file));
    if (!own.test(file)) expect([file, reports.length, is === 'heartbeat']).toEqual([file, 0, false]);
  }
});
