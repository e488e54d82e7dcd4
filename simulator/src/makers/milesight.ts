import { json, type Maker, wallTime } from './maker.ts';

/** Sends one JSON object for each vehicle, with local time and the image in base64, and never repeats it. */
export const milesight: Maker = {
  repeats: 0,
  doubled: 0,
  messagesOf: ({ at, plate, speed, confidence, vehicleType, isApproaching, image, device }) => [
    json({
      device: device.name,
      time: wallTime(at).slice(0, 19),
      time_msec: wallTime(at),
      plate: plate ?? '',
      type: 'Visitor',
      speed: Math.round(speed ?? 0),
      direction: isApproaching ? 'Approach' : 'Away',
      confidence: confidence.toFixed(2),
      vehicle_type: vehicleType,
      device_id: device.serial,
      ...(image && { full_image: image.toString('base64') }),
    }),
  ],
};
