import { type Maker, multipart } from './maker.ts';

/** Plate Recognizer Stream sends JSON and the image as parts, and repeats them until they are accepted (`webhook_caching`). */
export const platerecognizer: Maker = {
  repeats: Number.POSITIVE_INFINITY,
  doubled: 0,
  messagesOf({ at, uuid, plate, confidence, speed, vehicleType, image, device }) {
    const timestamp = new Date(at).toISOString();
    const filename = `${device.id}_screenshots/${uuid}.jpg`;
    const result = {
      box: { xmin: 337, ymin: 270, xmax: 412, ymax: 305 },
      plate: plate?.replaceAll(' ', '').toLowerCase() ?? '',
      score: confidence,
      region: { code: 'us-md', score: 0.7 },
      vehicle: { type: vehicleType, score: 0.8 },
      ...(speed !== null && { speed }),
    };
    const message = {
      hook: { target: 'http://gantry', id: device.id, event: 'recognition', filename },
      data: { camera_id: device.id, filename, timestamp, timestamp_local: timestamp, results: [result] },
    };
    const named = (name: string): string => `Content-Disposition: form-data; name="${name}"`;
    return [
      multipart('9f8b2c1d0e', [
        { headers: named('json'), content: JSON.stringify(message) },
        ...(image
          ? [
              {
                headers: `${named('upload')}; filename="${uuid}.jpg"\r\nContent-Type: image/jpeg`,
                content: image,
              },
            ]
          : []),
      ]),
    ];
  },
};
