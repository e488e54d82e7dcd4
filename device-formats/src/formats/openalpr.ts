import { reportedTime, type Zone } from '../device-time.ts';
import {
  type Format,
  MAX_VEHICLES,
  type PartOfPassage,
  type Reading,
  type ReadingContext,
  type Report,
  TooManyVehicles,
  without,
} from '../format.ts';
import { arrayOf, namesOf, objectOf, textOf, valueAt } from '../json-values.ts';
import type { DeviceMessage } from '../message.ts';
import { confidenceOf, plateOf } from '../observed.ts';
import { positionOf } from '../place.ts';
import { imagesIn, jsonValues, notRead, reportKey } from '../reading.ts';
import { imageUrls, listTag, vehicleEvent } from '../vehicle-event.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * A group is sent up to 10 seconds after the vehicle has gone, and results are sent while it is in sight. Without a
 * group, which agents form from three results on, each result becomes an event after this time.
 */
const WAIT_SECONDS = 30;

/** Which report of a vehicle counts: groups have the best plate of all results, alerts also have the list. */
const QUALITY = { result: 0, preview: 200, group: 400, alert: 600 } as const;

/**
 * OpenALPR and Rekor agents. A vehicle is reported once for each frame (`alpr_results`) and once as a whole
 * (`alpr_group`), which lists the `uuid` of each of its results, and the place of the plate in it in `plate_indexes`.
 */
export const openalpr: Format = {
  name: 'openalpr',
  label: 'OpenALPR / Rekor Scout agent',
  transports: ['http'],
  authentication: ['body'],
  // The agent has a queue on disk; whether it resends after an error is not confirmed.
  repeats: false,
  namesCamera: true,
  read,
  instructions: ({ url, token }) => [
    'Linux: open /etc/openalpr/alprd.conf. Windows: open the configuration of the Rekor Scout agent.',
    'Set upload_data = 1',
    `Set upload_address = ${url}`,
    `Optional, instead of the token in the address: have the agent send custom_data with "API_KEY": "${token}".`,
    'Rekor Scout: instead of that, open Configuration, Integrations or Webhooks, add a webhook with this address, and select group results, alerts and vehicles.',
    'Restart the agent. It sends a heartbeat every minute.',
    'If one agent serves several cameras, enter the camera ids (camera_id) in the option sensors.',
  ],
};

function read(message: DeviceMessage, { zone }: ReadingContext): Reading {
  const values = jsonValues(message).flatMap((value) => (Array.isArray(value) ? value : [value]));
  const results = values.flatMap((value) => arrayOf(objectOf(value).results));
  if (Math.max(values.length, results.length) > MAX_VEHICLES) throw new TooManyVehicles();
  const from = { images: imagesIn(message), zone };
  const readings = values.map((value) => readingOf(objectOf(value), from));
  const reports = readings.flatMap((reading) => reading?.reports ?? []);
  if (reports.length > 0) return { reports, is: 'reports', note: null };
  return readings.find((reading) => reading !== null) ?? notRead(message, 'a message of OpenALPR');
}

/** What a message contains besides its JSON, and the zone of its times. */
interface Surroundings {
  readonly images: readonly string[];
  readonly zone: Zone;
}

function readingOf(body: Json, from: Surroundings): Reading | null {
  // Agents before 2015 send results alone, without a type.
  const isOld = Array.isArray(body.results) && body.epoch_time !== undefined;
  const type = textOf(body.data_type) ?? (isOld ? 'alpr_results' : '');
  const reported = (reports: readonly Report[]): Reading => ({ reports, is: 'reports', note: null });
  switch (type.toLowerCase()) {
    case 'alpr_results':
      return arrayOf(body.results).length === 0
        ? without('nothing', 'No plate was recognized in the frame', deviceOf(body))
        : reported(arrayOf(body.results).map((each, index) => resultOf(body, objectOf(each), index, from)));
    case 'alpr_group':
      return reported([groupOf(body, body, from)]);
    case 'alpr_alert':
      return reported([groupOf(objectOf(body.group), body, from)]);
    case 'vehicle':
      return reported([vehicleOf(body, from)]);
    case 'heartbeat':
      return without('heartbeat', 'The agent reports that it is running', heartbeatDevice(body));
    default:
      return type === '' ? null : without('nothing', `Messages of the type ${type} are not recorded`);
  }
}

/** One plate in one frame. */
function resultOf(body: Json, result: Json, index: number, { images, zone }: Surroundings): Report {
  const uuid = textOf(body.uuid);
  const place = textOf(result.plate_index) ?? String(index);
  // Only the commercial agent forms groups, and only its messages have one of these fields.
  const isGrouped = namesOf(body.agent_uid, body.agent_type, body.company_id).length > 0;
  const { results: _, ...envelope } = body;
  const plate = plateOf(result.plate);
  const confidence = confidenceOf(result.confidence, 100);
  return {
    key: uuid === null ? null : idOf(uuid, place),
    device: deviceOf(body),
    ...reportedTime(zone, ['epoch_time', body.epoch_time]),
    event: vehicleEvent({
      plate,
      location: positionOf(body.gps_latitude, body.gps_longitude),
      images: imageUrls(body.vehicle_crop_jpeg, result.plate_crop_jpeg, ...images),
      confidence,
      tags: ['openalpr', nameOf(body)],
      metadata: {
        ...about(body),
        region: textOf(result.region),
        box: result.coordinates,
        raw: withoutSecrets({ ...envelope, results: [result] }),
      },
    }),
    ...(uuid !== null &&
      isGrouped && {
        passage: {
          id: idOf(uuid, place),
          quality: QUALITY.result + (plate === null ? 0 : 100) + 100 * (confidence?.confidence ?? 0),
          isLast: false,
          waitSeconds: WAIT_SECONDS,
        },
      }),
  };
}

/**
 * The best of all results of a vehicle.
 * @param body the whole message: the group itself, or the alert that contains it
 */
function groupOf(group: Json, body: Json, { images, zone }: Surroundings): Report {
  const isAlert = group !== body;
  const best = objectOf(group.best_plate);
  const plate = plateOf(group.best_plate_number ?? best.plate ?? body.plate_number);
  const passage = passageOf(group, isAlert);
  const list = textOf(body.list_type);
  return {
    key: passage?.id ?? textOf(group.best_uuid),
    device: [...new Set([...deviceOf(body), ...deviceOf(group)])],
    ...reportedTime(
      zone,
      ['epoch_start', group.epoch_start],
      ['epoch_time', body.epoch_time],
      ['epoch_end', group.epoch_end],
    ),
    event: vehicleEvent({
      plate,
      vehicleType: nameIn(group, 'body_type'),
      location: positionOf(group.gps_latitude, group.gps_longitude),
      images: imageUrls(group.vehicle_crop_jpeg, best.plate_crop_jpeg, group.overview_jpeg, ...images),
      confidence: confidenceOf(group.best_confidence ?? best.confidence, 100),
      tags: [
        'openalpr',
        nameOf(body) ?? nameOf(group),
        listTag(list) ?? listTag(textOf(body.alert_list)) ?? list ?? body.alert_list,
      ],
      metadata: {
        ...about(group),
        device: deviceOf(body)[0] ?? deviceOf(group)[0],
        region: textOf(group.best_region) ?? textOf(best.region),
        ...appearance(group),
        box: best.coordinates,
        listName: textOf(body.alert_list),
        listType: list,
        alert: textOf(body.description),
        raw: withoutSecrets(body),
      },
    }),
    ...(passage && { passage }),
  };
}

/** A vehicle without a readable plate, which is in no group. */
function vehicleOf(body: Json, { images, zone }: Surroundings): Report {
  const uuid = textOf(body.best_uuid) ?? textOf(body.uuid);
  const start = textOf(body.epoch_start);
  return {
    key: uuid === null && start === null ? null : reportKey('vehicle', uuid, start),
    device: deviceOf(body),
    ...reportedTime(
      zone,
      ['epoch_start', body.epoch_start],
      ['epoch_time', body.epoch_time],
      ['epoch_end', body.epoch_end],
    ),
    event: vehicleEvent({
      plate: null,
      vehicleType: nameIn(body, 'body_type'),
      location: positionOf(body.gps_latitude, body.gps_longitude),
      images: imageUrls(body.vehicle_crop_jpeg, body.overview_jpeg, ...images),
      tags: ['openalpr', nameOf(body)],
      metadata: { ...about(body), ...appearance(body), raw: withoutSecrets(body) },
    }),
  };
}

function passageOf(group: Json, isAlert: boolean): PartOfPassage | null {
  const places = arrayOf(group.plate_indexes);
  const ids = arrayOf(group.uuids).flatMap((each, at) => {
    const uuid = textOf(each);
    return uuid === null ? [] : [idOf(uuid, textOf(places[at]) ?? '0')];
  });
  const best = textOf(group.best_uuid);
  const bestId =
    best === null
      ? ids[0]
      : (ids.find((id) => id.startsWith(`${best}#`)) ??
        idOf(best, textOf(valueAt(group, 'best_plate.plate_index')) ?? '0'));
  if (bestId === undefined) return null;
  const isPreview = group.is_preview === true;
  return {
    id: bestId,
    quality: isAlert ? QUALITY.alert : isPreview ? QUALITY.preview : QUALITY.group,
    isLast: !isPreview,
    waitSeconds: WAIT_SECONDS,
    joins: ids.filter((id) => id !== bestId),
  };
}

function idOf(uuid: string, place: string): string {
  return reportKey(`${uuid}#${place}`);
}

/** Where and by which agent a vehicle was seen. */
function about(body: Json): Json {
  return {
    vendor: 'openalpr',
    device: deviceOf(body)[0],
    agent: textOf(body.agent_uid),
    site: textOf(body.site_id) ?? textOf(body.site_name),
    direction: body.travel_direction,
    country: textOf(body.country),
  };
}

/** What a vehicle looks like. */
function appearance(body: Json): Json {
  return {
    make: nameIn(body, 'make'),
    model: nameIn(body, 'make_model'),
    color: nameIn(body, 'color'),
    year: nameIn(body, 'year'),
    isParked: body.is_parked,
  };
}

/** The most probable name of a property of the vehicle. */
function nameIn(body: Json, property: string): string | null {
  return textOf(valueAt(body, `vehicle.${property}.0.name`));
}

/** The name of the camera. */
function nameOf(body: Json): string | null {
  return textOf(body.camera_name) ?? textOf(valueAt(body, 'web_server_config.camera_label'));
}

/** The names of the camera, and of the agent that it belongs to. */
function deviceOf(body: Json): string[] {
  return namesOf(body.camera_id ?? body.camera_number, nameOf(body), body.agent_uid, body.site_id);
}

/** The names of the device that sends a heartbeat: of the camera, if the agent has only one, and of the agent. */
function heartbeatDevice(body: Json): string[] {
  const streams = arrayOf(body.video_streams).map(objectOf);
  return namesOf(
    ...(streams.length === 1 ? [streams[0]?.camera_id, streams[0]?.camera_name] : []),
    body.agent_uid,
    body.agent_hostname,
    body.site_id,
  );
}

/** The message without secrets: `custom_data` may contain the key by which the agent identifies itself. */
function withoutSecrets(body: Json): Json {
  const { custom_data: data, ...rest } = body;
  if (data === undefined) return rest;
  const kept = Object.entries(objectOf(data)).filter(([name]) => !/api.?key|token|password/i.test(name));
  return { ...rest, custom_data: Object.fromEntries(kept) };
}
