import { randomUUID } from 'node:crypto';
import type { GantryClient } from '@gantry/client';
import type { DeviceFormat } from '@gantry/contract/connections';
import { hikvision } from '@gantry/simulator/src/makers/hikvision.ts';
import { limitKmh, type Place, places } from '@gantry/simulator/src/places.ts';
import { createRandom, mix } from '@gantry/simulator/src/random.ts';
import { vehicleOf } from '@gantry/simulator/src/vehicle.ts';
import type { Sensor } from '../sensors.ts';
import { makeJpeg, numberJpeg } from './jpeg.ts';

/** A request with one event. */
export interface Message {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer | string;
}

/** Makes the next message. All messages are different, and the sensors take turns. */
export type MakeMessage = () => Message;

/** Creates a connection of each sensor. @returns the paths to which their devices post */
export async function connect(
  { api }: GantryClient,
  sensors: readonly Sensor[],
  format: DeviceFormat,
): Promise<string[]> {
  const paths: string[] = [];
  for (const { id: sensorId } of sensors) {
    const { token } = await api.connections.create.mutate({ sensorId, format });
    paths.push(`/gateway/${format}/${token}`);
  }
  return paths;
}

const VEHICLES = 200_000;

/** Returns a function that makes the next vehicle seen by a camera. The same seed gives the same sequence. */
function createPassages(seed: number) {
  const random = createRandom(mix(seed, 3));
  return () => {
    const place: Place = random.pick(places);
    const vehicle = vehicleOf(Math.floor(VEHICLES * random.next() ** 2));
    return {
      place,
      vehicle,
      speed: Math.max(5, Math.round(random.normal(limitKmh(place), 14))),
      confidence: Math.round(820 + 179 * Math.sqrt(random.next())) / 1000,
      lane: random.whole(1, 3),
      isApproaching: random.chance(0.5),
    };
  };
}

/**
 * Makes Hikvision's multipart messages about recognised plates, each with one image.
 * @param imageBytes the size of an image in bytes; each image is different unless `isSame`
 */
export function hikvisionMessages(
  paths: readonly string[],
  { imageBytes, isSame, seed }: { imageBytes: number; isSame: boolean; seed: number },
): MakeMessage {
  const next = createPassages(seed);
  const image = makeJpeg(imageBytes);
  let number = 0;
  return () => {
    if (!isSame) numberJpeg(image, number);
    const at = number % paths.length;
    number++;
    const { place, vehicle, ...seen } = next();
    const sighting = {
      ...seen,
      at: Date.now(),
      number,
      uuid: randomUUID(),
      plate: vehicle.plate,
      limit: limitKmh(place),
      vehicleType: vehicle.type,
      image,
      device: {
        id: `camera-${at}`,
        name: `Camera ${at}`,
        serial: String(at),
        mac: '44:19:b6:00:00:01',
        address: '192.0.2.1',
        latitude: place.latitude,
        longitude: place.longitude,
      },
    };
    const [message] = hikvision.messagesOf(sighting, createRandom(number));
    return { path: paths[at] ?? '', contentType: message?.contentType ?? '', body: message?.body ?? '' };
  };
}

/** Makes Plate Recognizer's webhook messages as JSON, with the fields of a captured one and without an image. */
export function plateRecognizerMessages(paths: readonly string[], seed: number): MakeMessage {
  const next = createPassages(seed);
  let number = 0;
  return () => {
    const at = number++ % paths.length;
    const { vehicle, speed, confidence, isApproaching } = next();
    const id = `camera-${at}`;
    const filename = `${id}_screenshots/${randomUUID()}.jpg`;
    const timestamp = new Date().toISOString();
    const plate = vehicle.plate.replaceAll(' ', '').toLowerCase();
    const result = {
      box: { xmin: 337, ymin: 270, xmax: 412, ymax: 305 },
      candidates: [{ plate, score: confidence }],
      color: [
        { color: 'red', score: 0.699 },
        { color: 'black', score: 0.134 },
      ],
      dscore: 0.757,
      model_make: [
        { make: 'Porsche', model: '911', score: 0.43 },
        { make: 'Porsche', model: 'Carrera', score: 0.2 },
      ],
      orientation: [
        { orientation: isApproaching ? 'Front' : 'Rear', score: 0.883 },
        { orientation: 'Unknown', score: 0.047 },
      ],
      plate,
      region: { code: 'us-md', score: 0.7 },
      score: confidence,
      speed,
      vehicle: { box: { xmin: 155, ymin: 71, xmax: 590, ymax: 373 }, score: 0.709, type: vehicle.type },
      direction: 210,
    };
    const message = {
      hook: { target: 'http://gantry', id, event: 'recognition', filename },
      data: { camera_id: id, filename, timestamp, timestamp_local: timestamp, results: [result] },
    };
    return { path: paths[at] ?? '', contentType: 'application/json', body: JSON.stringify(message) };
  };
}
