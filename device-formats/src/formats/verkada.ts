import { reportedTime, type Zone } from '../device-time.ts';
import { knownText } from '../fields.ts';
import {
  type Format,
  MAX_VEHICLES,
  type Reading,
  type ReadingContext,
  type Report,
  TooManyVehicles,
  without,
} from '../format.ts';
import { fieldsOf, namesOf, objectOf, textOf } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf } from '../observed.ts';
import { imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** Verkada Command, webhooks of plates. Times are in seconds (`created`) and milliseconds (`detected`) in one message. */
export const verkada: Format = {
  name: 'verkada',
  label: 'Verkada (webhooks)',
  transports: ['http'],
  // Verkada-Signature: <seconds>|<hex>, the HMAC-SHA256 of the body, a | and the seconds.
  authentication: ['hmac'],
  // Verkada repeats a message once, within 2 seconds, which is too early if the database is unavailable.
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, password }) => [
    'Open Verkada Command, All Products, Admin, API & Integrations, Webhooks, and press Add.',
    `URL: ${url} (Verkada accepts only https with a certificate of a public authority).`,
    `Shared secret: ${password}`,
    `To have messages without a signature refused, enter the address without the token, ${url.slice(0, url.lastIndexOf('/'))}: with the token, a message is accepted without a signature too.`,
    'Select LPR under the events. License plates of interest may be selected under the notifications.',
    'If one webhook serves several cameras, enter the id of each camera (camera_id) in the option sensors.',
  ],
};

function read(message: DeviceMessage, { zone }: ReadingContext): Reading {
  const values = jsonValues(message).flatMap((value) => (Array.isArray(value) ? value : [value]));
  if (values.flatMap((value) => objectOf(value).data).length > MAX_VEHICLES) throw new TooManyVehicles();
  const readings = values.map((value) => readingOf(objectOf(value), { images: imagesIn(message), zone }));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((reading) => reading !== null) ?? notRead(message, 'a webhook of Verkada');
}

/** What a message contains besides its JSON, and the zone of its times. */
interface Surroundings {
  readonly images: readonly string[];
  readonly zone: Zone;
}

function readingOf(body: Json, from: Surroundings): Reading | null {
  const field = fieldsOf(body);
  const type = textOf(field('webhook_type'));
  const items = Array.isArray(body.data) ? body.data : [body.data];
  if (type === null && field('webhook_id') === undefined) return null;
  const device = namesOf(fieldsOf(items[0])('camera_id'));
  if (/^(?:ping|test|heartbeat)$/i.test(type ?? '')) {
    return without('heartbeat', 'Verkada tests the webhook', device);
  }
  const plates = items.flatMap((item, index) =>
    isPlate(item, type) ? [reportOf(body, objectOf(item), items.length > 1 ? index : null, from)] : [],
  );
  return plates.length > 0
    ? { reports: plates, is: 'reports', note: null }
    : without('nothing', `Webhooks of the type ${type ?? 'unknown'} are not recorded`, device);
}

function isPlate(item: unknown, type: string | null): boolean {
  return /^lpr$/i.test(type ?? '') || fieldsOf(item)('license_plate_number') !== undefined;
}

function reportOf(body: Json, data: Json, index: number | null, { images, zone }: Surroundings): Report {
  const field = fieldsOf(data);
  const id = textOf(body.webhook_id);
  const plate = plateOf(field('license_plate_number', 'license_plate'));
  const notification = textOf(field('notification_type'));
  return {
    key: id === null ? null : index === null ? reportKey(id) : reportKey(id, index),
    device: namesOf(field('camera_id'), field('device_id')),
    ...reportedTime(
      zone,
      ['detected', field('detected')],
      ['created', field('created')],
      ['created_at', body.created_at],
    ),
    event: vehicleEvent({
      plate,
      vehicleType: field('vehicle_type'),
      images: [
        ...imageUrls(field('image_url'), field('vehicle_image_url'), field('license_plate_image_url')),
        ...images,
      ],
      confidence: confidenceOf(field('confidence'), 1),
      tags: ['verkada', textOf(field('camera_name')), notification],
      metadata: {
        vendor: 'verkada',
        device: textOf(field('camera_id')),
        organization: textOf(body.org_id),
        region: knownText(field('license_plate_state')),
        make: knownText(field('vehicle_make')),
        model: knownText(field('vehicle_model')),
        color: knownText(field('vehicle_color')),
        box: field('crop'),
        listName: notification,
        raw: body,
      },
    }),
  };
}
