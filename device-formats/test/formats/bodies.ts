import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect } from 'vitest';
import { type Format, type Reading, TooManyVehicles } from '../../src/format.ts';
import { formats } from '../../src/formats.ts';
import { imageUrl } from '../../src/image.ts';
import { devicePayload, readBody } from './reading.ts';

/** A multipart body; each part is its headers and its content. */
export function multipartBody(
  boundary: string,
  parts: readonly (readonly [string, Buffer | string])[],
): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

/** The address that an image has after it was taken out of a message. */
export function addressOf(image: Buffer): string {
  return imageUrl(hash('sha256', image, 'hex'));
}

/**
 * A short form of a reading: what it is if it has no reports, and otherwise the time, type, plate, speed and violation
 * of each.
 */
export function inShort(reading: Reading): unknown[] {
  if (reading.reports.length === 0) return [reading.is];
  return reading.reports.map(({ event, occurredAt }) => [
    occurredAt === null ? null : new Date(occurredAt).toISOString(),
    event.eventType,
    event.licensePlateNumber ?? null,
    event.vehicleSpeed ?? null,
    event.violationType ?? null,
  ]);
}

const BAD_BODIES: readonly (string | Buffer)[] = [
  '',
  'x',
  '{}',
  '[]',
  '[[]]',
  'null',
  '{"a":',
  '<a/>',
  '<a><b>',
  '<!DOCTYPE a><a/>',
  '{"Events":"x","Picture":7,"data":[1],"vehicles":[null,3,"x"],"StructureInfo":[]}',
  '{"Events":[null,3,"x",[],{}],"params":{"eventList":[null]}}',
  '{"EventNotificationAlert":{"eventType":7,"ANPR":[null,"x",3,[]]}}',
  '<EventNotificationAlert/>',
  '<EventNotificationAlert><eventType/><ANPR/></EventNotificationAlert>',
  '<config><smartType/><listInfo/></config>',
  Buffer.from([0xff, 0xd8, 0xff, 0, 1, 2]),
];

/**
 * Checks that the format neither throws nor creates events from bodies that cannot be understood, from messages of
 * other makers, or from more vehicles than a message can have.
 */
export async function expectCalm(format: Format): Promise<void> {
  const files = await readdir(new URL('../messages/', import.meta.url));
  for (const file of files) {
    if (file.startsWith(format.name) || /\.source$|^README/.test(file)) continue;
    const { reports, note } = await readBody(format, await devicePayload(file));
    expect([file, reports]).toEqual([file, []]);
    expect(note, file).not.toBeNull();
  }
  const vehicle = {
    Code: 'TrafficJunction',
    license_plate_id: 'A1',
    PLATE_STRING: 'A1',
    plate: 'A1',
    time: '1',
  };
  const many = Array.from({ length: 1_000 }, () => vehicle);
  for (const body of [
    many,
    { Events: many },
    { message_id: '1', vehicles: many },
    { VehicleInfoList: many },
  ]) {
    const count = await readBody(format, JSON.stringify(body)).then(
      ({ reports }) => reports.length,
      (error: unknown) => (error instanceof TooManyVehicles ? 0 : Promise.reject(error)),
    );
    expect(count).toBeLessThanOrEqual(100);
  }
  for (const body of BAD_BODIES) {
    const { reports, is, note } = await readBody(format, body);
    const seen = `${String(body)}: ${is}`;
    expect([seen, reports.filter((each) => each.event.licensePlateNumber)]).toEqual([seen, []]);
    if (reports.length === 0) expect(note, seen).toMatch(/^[A-Z].{5,}/);
  }
  expect(formats).toContain(format);
}
