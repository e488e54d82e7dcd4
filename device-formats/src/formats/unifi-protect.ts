import { epochTime, reportedTime, type Zone } from '../device-time.ts';
import {
  type Format,
  MAX_VEHICLES,
  type Reading,
  type ReadingContext,
  type Report,
  TooManyVehicles,
  without,
} from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf, valueAt } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf } from '../observed.ts';
import { imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, vehicleEvent } from '../vehicle-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** Each rule sends a webhook of its own for the same detection, within a second or two. */
const WAIT_SECONDS = 5;

/** Alarm Manager of UniFi Protect: one webhook for each rule, with one trigger for each condition that was met. */
export const unifiProtect: Format = {
  name: 'unifi-protect',
  label: 'UniFi Protect (Alarm Manager)',
  transports: ['http'],
  authentication: ['header'],
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, token }) => [
    'Open UniFi Protect, Alarm Manager, and create an alarm.',
    'Trigger: License Plate (known, unknown and of interest), and Vehicle if vehicles without a plate are to be recorded.',
    'Scope: the cameras of this connection.',
    'Action: Webhook, Custom Webhook.',
    `Delivery URL: ${url}`,
    `Method: POST. If your version offers custom headers, x-api-key: ${token} may be used instead of the token in the address.`,
    'Switch on "Use thumbnails" if your version offers it, for attached.',
    'If the alarm covers several cameras, enter the MAC address of each, as 942A6FD0AD1A, in the option sensors.',
  ],
};

function read(message: DeviceMessage, { zone }: ReadingContext): Reading {
  const values = jsonValues(message).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const readings = values.map((value) => readingOf(objectOf(value), { attached: imagesIn(message), zone }));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((reading) => reading !== null) ?? notRead(message, 'a webhook of UniFi Protect');
}

/** What a message contains besides its JSON, and the zone of its times. */
interface Surroundings {
  readonly attached: readonly string[];
  readonly zone: Zone;
}

function readingOf(body: Json, from: Surroundings): Reading | null {
  if (body.alarm !== undefined) return alarmOf(body, objectOf(body.alarm), from);
  if (Array.isArray(body.payload)) return trackOf(body, body.payload.map(objectOf), from);
  const event = objectOf(body.item ?? body);
  return event.smartDetectTypes === undefined ? null : detectionOf(event, from);
}

/** What was detected at one time on one camera, of all triggers that mention it. */
interface Detection {
  readonly device: string;
  readonly eventId: string;
  readonly triggers: readonly Json[];
}

function alarmOf(body: Json, alarm: Json, { attached, zone }: Surroundings): Reading {
  const triggers = (Array.isArray(alarm.triggers) ? alarm.triggers : [alarm.triggers]).map(objectOf);
  const sources = namesOf(...arrayOf(alarm.sources).map((each) => objectOf(each).device));
  if (triggers.some((trigger) => trigger.eventId === 'testEventId')) {
    return without('status', 'This is a test of the alarm', sources.length === 1 ? sources : undefined);
  }
  const detections = new Map<string, Detection>();
  for (const trigger of triggers) {
    if (!/vehicle|license_?plate/i.test(keyOf(trigger, alarm))) continue;
    const device = textOf(trigger.device) ?? (sources.length === 1 ? (sources[0] ?? '') : '');
    const eventId = textOf(trigger.eventId) ?? '';
    const name = `${eventId}|${device}`;
    const before = detections.get(name)?.triggers ?? [];
    detections.set(name, { device, eventId, triggers: [...before, trigger] });
  }
  const images = [...imageUrls(alarm.thumbnail, body.thumbnail), ...attached];
  const reports = [...detections.values()].flatMap((each) => reportsOf(each, { body, alarm, images, zone }));
  return reports.length > 0
    ? { reports, is: 'reports', note: null }
    : without('nothing', 'The alarm is not about vehicles');
}

interface Alarm {
  readonly body: Json;
  readonly alarm: Json;
  readonly images: readonly string[];
  readonly zone: Zone;
}

/** One report for each plate; a vehicle without a plate when no plate was read. */
function reportsOf(detection: Detection, from: Alarm): Report[] {
  const byPlate = new Map<string | null, Json[]>();
  for (const trigger of detection.triggers) {
    const { plate } = plateIn(trigger, keyOf(trigger, from.alarm));
    byPlate.set(plate, [...(byPlate.get(plate) ?? []), trigger]);
  }
  const vehicles = byPlate.get(null) ?? [];
  if (byPlate.size > 1) byPlate.delete(null);
  return [...byPlate].map(([plate, triggers], index) =>
    reportOf(detection, plate, index === 0 && plate !== null ? [...triggers, ...vehicles] : triggers, from),
  );
}

function reportOf(
  { device, eventId }: Detection,
  plate: string | null,
  triggers: readonly Json[],
  { body, alarm, images, zone }: Alarm,
): Report {
  const keys = namesOf(...triggers.map((trigger) => keyOf(trigger, alarm)));
  const [first] = triggers;
  const whole = reportKey(eventId, device);
  const id = plate === null ? whole : reportKey(eventId, device, plate);
  const name = triggers.map((trigger) => plateIn(trigger, keyOf(trigger, alarm)).name).find((each) => each);
  const times = triggers.map(({ timestamp }) => timestamp).filter((time) => epochTime(time) !== null);
  const earliest = times.sort((a, b) => Number(epochTime(a)) - Number(epochTime(b)))[0] ?? first?.timestamp;
  return {
    key: eventId === '' ? null : id,
    device: namesOf(device),
    ...reportedTime(zone, ['triggers.timestamp', earliest], ['timestamp', body.timestamp]),
    event: vehicleEvent({
      plate,
      images,
      confidence: confidenceOf(first?.confidence ?? first?.score, 100),
      tags: ['unifi', textOf(alarm.name), ...keys.filter((key) => /_of_interest$/.test(key)), name],
      metadata: {
        vendor: 'unifi-protect',
        device,
        alarm: textOf(alarm.name),
        eventId,
        listName: name,
        triggers: keys,
        zones: valueAt(first, 'zones.zone'),
        lines: valueAt(first, 'zones.line'),
        raw: body,
      },
    }),
    ...(eventId !== '' && {
      passage: {
        id,
        quality: plate === null ? 1 : 2,
        isLast: false,
        waitSeconds: WAIT_SECONDS,
        ...(plate !== null && { joins: [whole] }),
      },
    }),
  };
}

/** The kind of a trigger; some versions name it in the only condition of the alarm. */
function keyOf(trigger: Json, alarm: Json): string {
  const key = textOf(trigger.key);
  if (key !== null) return key;
  const conditions = arrayOf(alarm.conditions).map((each) => textOf(valueAt(each, 'condition.source')));
  return conditions.length === 1 ? (conditions[0] ?? '') : '';
}

function plateIn(trigger: Json, key: string): { plate: string | null; name: string | null } {
  if (!/license_?plate/i.test(key)) return { plate: null, name: null };
  const values = namesOf(trigger.value, valueAt(trigger, 'group.name'));
  return /unknown$/.test(key) ? { plate: plateOf(values[0]), name: null } : plateAmong(values);
}

/**
 * The value of a known plate may be the name that was given to it: `Mama` or `Work truck 2`. Protect writes plates without
 * small letters.
 */
function plateAmong(values: readonly string[]): { plate: string | null; name: string | null } {
  const read = values.filter((text) => plateOf(text) !== null);
  const isName = (text: string): boolean => /\p{Ll}/u.test(text);
  return { plate: plateOf(read.find((text) => !isName(text))), name: read.find(isName) ?? null };
}

/** An event of the websocket or of the API of Protect, as bridges forward it: one report for each vehicle in it. */
function detectionOf(event: Json, from: Surroundings): Reading {
  const types = namesOf(...arrayOf(event.smartDetectTypes));
  if (!types.some((type) => /vehicle|licensePlate/i.test(type))) {
    return without('nothing', 'The event is not about vehicles', namesOf(event.camera));
  }
  const found = arrayOf(valueAt(event, 'metadata.detectedThumbnails'))
    .map(objectOf)
    .filter((thumbnail) => /vehicle|licensePlate/i.test(textOf(thumbnail.type) ?? ''));
  const vehicles = found.length > 0 ? found : [{}];
  return {
    reports: vehicles.map((vehicle, index) => detectedVehicle(event, vehicle, index, from)),
    is: 'reports',
    note: null,
  };
}

/**
 * The answer of `events/<id>/smartDetectTrack`: the positions of the objects of an event, several for each object. Every
 * vehicle is one report, at the time of its first position, with the plate that was read best.
 */
function trackOf(body: Json, items: readonly Json[], from: Surroundings): Reading | null {
  const kindOf = (item: Json): string => textOf(item.objectType ?? item.type) ?? '';
  if (!items.some((item) => kindOf(item) !== '')) return null;
  const tracks = new Map<string, Json[]>();
  for (const item of items) {
    if (!/vehicle|licensePlate/i.test(kindOf(item)) && item.licensePlate === undefined) continue;
    const id = textOf(item.trackerId ?? item.objectId ?? item.id) ?? '';
    tracks.set(id, [...(tracks.get(id) ?? []), item]);
  }
  if (tracks.size === 0) {
    return without('nothing', 'The track is not about vehicles', namesOf(body.camera));
  }
  if (tracks.size > MAX_VEHICLES) throw new TooManyVehicles();
  return {
    reports: [...tracks].map(([id, positions]) => trackedVehicle(body, id, positions, from)),
    is: 'reports',
    note: null,
  };
}

function trackedVehicle(
  body: Json,
  id: string,
  positions: readonly Json[],
  { attached, zone }: Surroundings,
): Report {
  const reads = positions.flatMap(({ licensePlate }) => {
    const { name, plate, confidence, confidenceLevel } = objectOf(licensePlate);
    const read = plateAmong(namesOf(licensePlate, name, plate)).plate;
    const sureness = confidenceOf(confidence ?? confidenceLevel, 100);
    return read === null ? [] : [{ plate: read, confidence: sureness }];
  });
  const best = reads.sort((a, b) => (b.confidence?.confidence ?? 0) - (a.confidence?.confidence ?? 0))[0];
  const [first = {}] = [...positions].sort((a, b) => Number(a.timestamp) - Number(b.timestamp));
  const attribute = (name: string) =>
    positions.map((each) => textOf(valueAt(each, `attributes.${name}.val`))).find((each) => each !== null);
  const eventId = textOf(body.event) ?? textOf(body.id);
  return {
    key: eventId === null ? null : reportKey(eventId, id),
    device: namesOf(body.camera, body.device),
    ...reportedTime(zone, ['timestamp', first.timestamp]),
    event: vehicleEvent({
      plate: best?.plate,
      confidence: best?.confidence ?? null,
      vehicleType: attribute('vehicleType'),
      images: attached,
      tags: ['unifi'],
      metadata: {
        vendor: 'unifi-protect',
        device: textOf(body.camera),
        eventId,
        color: attribute('color'),
        zones: first.zones ?? first.zoneIds,
        box: first.coord,
        positions: positions.length,
        raw: body,
      },
    }),
  };
}

function detectedVehicle(
  event: Json,
  vehicle: Json,
  index: number,
  { attached, zone }: Surroundings,
): Report {
  // Groups exist for other objects, too: their names are plates only in the detection of a plate.
  const isPlate = arrayOf(event.smartDetectTypes).includes('licensePlate');
  const { plate, name } = plateAmong(
    namesOf(
      isPlate ? valueAt(vehicle, 'group.matchedName') : null,
      valueAt(event, 'metadata.licensePlate.name'),
    ),
  );
  const listName = textOf(vehicle.name) ?? name;
  const id = textOf(event.id);
  return {
    key: id === null ? null : reportKey(id, textOf(vehicle.objectId) ?? index),
    device: namesOf(event.camera, event.device),
    ...reportedTime(
      zone,
      ['start', event.start],
      ['timestamp', event.timestamp],
      ['clockBestWall', vehicle.clockBestWall],
    ),
    event: vehicleEvent({
      plate,
      vehicleType: valueAt(vehicle, 'attributes.vehicleType.val'),
      images: attached,
      confidence: confidenceOf(valueAt(vehicle, 'group.confidence') ?? vehicle.confidence, 100),
      tags: ['unifi', listName],
      metadata: {
        vendor: 'unifi-protect',
        device: textOf(event.camera),
        eventId: id,
        color: textOf(valueAt(vehicle, 'attributes.color.val')),
        zones: valueAt(vehicle, 'attributes.zone'),
        box: vehicle.coord,
        listName,
        raw: event,
      },
    }),
  };
}
