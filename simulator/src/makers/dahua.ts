import { json, type Maker, wallTime } from './maker.ts';

/** Posts to fixed paths below the address (ITSAPI), with local times without a zone. May repeat a message that was accepted. */
export const dahua: Maker = {
  repeats: 3,
  doubled: 0.03,
  messagesOf: ({ at, uuid, plate, vehicleType, lane, image, device }) => [
    json(
      {
        Picture: {
          Plate: { IsExist: plate !== null, PlateNumber: plate ?? '', PlateType: 'Normal', Channel: 0 },
          Vehicle: { VehicleType: vehicleType },
          SnapInfo: {
            AccurateTime: wallTime(at),
            DeviceID: device.serial,
            DefenceCode: uuid.slice(0, 8),
            LanNo: lane,
            SnapAddress: device.name,
            Direction: 'Obverse',
          },
          ...(image && { NormalPic: { Content: image.toString('base64'), PicName: `${uuid}.jpg` } }),
        },
      },
      '/NotificationInfo/TollgateInfo',
    ),
  ],
  heartbeatOf: ({ device }) =>
    json({ Active: 'keepAlive', DeviceID: device.serial }, '/NotificationInfo/KeepAlive'),
};
