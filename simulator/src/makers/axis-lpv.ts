import { type Maker, multipart } from './maker.ts';

/**
 * Sends `new`, `update` and `lost` for each car; the first message may contain a misread plate. A buffer in the camera
 * repeats each message until it is accepted.
 */
export const axisLpv: Maker = {
  repeats: Number.POSITIVE_INFINITY,
  doubled: 0.01,
  messagesOf({ at, number, plate, confidence, vehicleType, isApproaching, image, device }, random) {
    const misread = plate && random.chance(0.2) ? plate.replace(/[0-9]/, '8') : plate;
    const stages = [
      { state: 'new', text: misread, believed: confidence - 0.2, afterMs: 0 },
      { state: 'update', text: plate, believed: confidence, afterMs: 400 },
      { state: 'lost', text: plate, believed: confidence, afterMs: 1_500 },
    ];
    return stages.map(({ state, text, believed, afterMs }, n) => {
      const event = {
        packetCounter: String(number + n),
        capture_timestamp: String(at),
        capture_ts: `${at}000000`,
        plateText: text ?? '',
        plateUTF8: text ?? '',
        plateASCII: text ?? '',
        plateCountry: 'USA',
        plateConfidence: believed.toFixed(6),
        carState: state,
        carMoveDirection: state === 'new' ? 'unknown' : isApproaching ? 'in' : 'out',
        geotag: { lat: device.latitude, lon: device.longitude },
        vehicle_info: { type: vehicleType },
        carID: String(number),
        camera_info: { SerialNumber: device.mac.replaceAll(':', '').toUpperCase(), MACAddress: device.mac },
      };
      const request = multipart('axisboundary', [
        { headers: 'Content-Disposition: form-data; name="event"', content: JSON.stringify(event) },
        ...(image && state === 'new'
          ? [
              {
                headers:
                  'Content-Disposition: form-data; name="image"; filename="car.jpg"\r\nContent-Type: image/jpeg',
                content: image,
              },
            ]
          : []),
      ]);
      return { ...request, afterMs };
    });
  },
};
