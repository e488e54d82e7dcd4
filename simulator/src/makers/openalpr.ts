import { json, type Maker } from './maker.ts';

/** The agent sends a result for each frame and then a group of them. A queue repeats each message until it is accepted. */
export const openalpr: Maker = {
  repeats: Number.POSITIVE_INFINITY,
  doubled: 0.01,
  messagesOf({ at, number, plate, confidence, vehicleType, image, device }, random) {
    const read = plate?.replaceAll(/[^A-Z0-9]/g, '') ?? '';
    const agent = device.serial.padStart(40, '0');
    const frames = Array.from({ length: random.whole(2, 3) }, (_, n) => ({
      uuid: `${agent}-${number}-${at - 200 + n * 100}`,
      at: at - 200 + n * 100,
    }));
    const common = {
      version: 2,
      agent_uid: agent,
      agent_version: '2.7.101',
      agent_type: 'alprd',
      camera_id: 1,
    };
    const results = frames.map((frame, n) =>
      json(
        {
          data_type: 'alpr_results',
          ...common,
          uuid: frame.uuid,
          epoch_time: frame.at,
          results: [{ plate: read, confidence: confidence * 100 - 5 + n, plate_index: 0, region: 'us-md' }],
        },
        '',
        50,
      ),
    );
    const group = {
      data_type: 'alpr_group',
      ...common,
      epoch_start: frames[0]?.at,
      epoch_end: frames.at(-1)?.at,
      best_uuid: frames.at(-1)?.uuid,
      best_plate_number: read,
      best_confidence: confidence * 100,
      best_region: 'us-md',
      country: 'us',
      uuids: frames.map(({ uuid }) => uuid),
      plate_indexes: frames.map(() => 0),
      gps_latitude: device.latitude,
      gps_longitude: device.longitude,
      vehicle: { body_type: [{ name: vehicleType, confidence: 90 }] },
      ...(image && { vehicle_crop_jpeg: image.toString('base64') }),
    };
    return [...results, json(group, '', 300)];
  },
  heartbeatOf: ({ at, device }) =>
    json({
      data_type: 'heartbeat',
      version: 1,
      agent_uid: device.serial.padStart(40, '0'),
      timestamp: at,
      video_streams: [],
    }),
};
