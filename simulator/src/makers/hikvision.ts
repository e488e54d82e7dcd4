import { escapeXml, type Maker, multipart, xml } from './maker.ts';

/**
 * Does not repeat a message that was not accepted (ISAPI alert server). Images are parts of a multipart body, and
 * `videoloss` alerts are the heartbeats.
 */
export const hikvision: Maker = {
  repeats: 0,
  doubled: 0.01,
  messagesOf({ at, uuid, plate, confidence, speed, limit, vehicleType, lane, isApproaching, image, device }) {
    const alert = `<?xml version="1.0" encoding="UTF-8"?>
<EventNotificationAlert version="2.0" xmlns="http://www.hikvision.com/ver20/XMLSchema">
<ipAddress>${device.address}</ipAddress><protocol>HTTP</protocol><macAddress>${device.mac}</macAddress><channelID>1</channelID>
<dateTime>${new Date(at).toISOString().slice(0, 19)}+00:00</dateTime><activePostCount>1</activePostCount>
<eventType>ANPR</eventType><eventState>active</eventState><eventDescription>ANPR</eventDescription>
<channelName>${escapeXml(device.name)}</channelName>
<ANPR><licensePlate>${escapeXml(plate ?? 'unknown')}</licensePlate><line>${lane}</line>
<direction>${isApproaching ? 'forward' : 'reverse'}</direction><confidenceLevel>${Math.round(confidence * 100)}</confidenceLevel>
<vehicleType>${escapeXml(vehicleType)}</vehicleType>
<vehicleInfo><speed>${Math.round(speed ?? 0)}</speed><speedLimit>${limit}</speedLimit></vehicleInfo></ANPR>
<UUID>${uuid}</UUID></EventNotificationAlert>`;
    const file = (name: string, type: string) =>
      `Content-Disposition: form-data; name="${name}"; filename="${name}"\r\nContent-Type: ${type}`;
    return [
      multipart('boundary', [
        { headers: file('anpr.xml', 'text/xml; charset="UTF-8"'), content: alert },
        { headers: file('licensePlatePicture.jpg', 'image/pjpeg'), content: '' },
        { headers: file('detectionPicture.jpg', 'image/pjpeg'), content: image ?? '' },
      ]),
    ];
  },
  heartbeatOf: ({ at, device }) =>
    xml(`<EventNotificationAlert version="2.0" xmlns="http://www.hikvision.com/ver20/XMLSchema">
<ipAddress>${device.address}</ipAddress><macAddress>${device.mac}</macAddress><channelID>1</channelID>
<dateTime>${new Date(at).toISOString().slice(0, 19)}+00:00</dateTime><activePostCount>0</activePostCount>
<eventType>videoloss</eventType><eventState>inactive</eventState><eventDescription>videoloss alarm</eventDescription>
</EventNotificationAlert>`),
};
