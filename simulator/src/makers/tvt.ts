import { escapeXml, type Maker, xml } from './maker.ts';

/** Sends XML with the image in base64 and the time in microseconds, without retries, and keepalives. */
export const tvt: Maker = {
  repeats: 0,
  doubled: 0.01,
  messagesOf: ({ at, plate, image }) => [
    xml(`<?xml version="1.0" encoding="UTF-8"?>
<config version="1.7" xmlns="http://www.ipc.com/ver10"><smartType type="openAlramObj">VEHICE</smartType>
<currentTime type="tint64">${at}000</currentTime>
<listInfo type="list" count="1"><item><plateNumber type="string"><![CDATA[${plate ?? ''}]]></plateNumber>
<vehicleListType type="string">temporaryList</vehicleListType></item></listInfo>
<sourceDataInfo><dataType type="uint32">0</dataType>
<sourceBase64Data type="string"><![CDATA[${image?.toString('base64') ?? ''}]]></sourceBase64Data></sourceDataInfo></config>`),
  ],
  heartbeatOf: ({ device }) =>
    xml(`<?xml version="1.0" encoding="UTF-8"?>
<DeviceInfo><DeviceName>${escapeXml(device.name)}</DeviceName><SN><![CDATA[${device.serial}]]></SN>
<ipAddress>${device.address}</ipAddress><macAddress>${device.mac}</macAddress></DeviceInfo>`),
};
