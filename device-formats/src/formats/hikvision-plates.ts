import { isoTime, reportedTime, type Zone } from '../device-time.ts';
import { fieldText, knownText } from '../fields.ts';
import type { ReadingContext, Report } from '../format.ts';
import { namesOf } from '../json-values.ts';
import { confidenceOf } from '../observed.ts';
import { vehicleEvent } from '../vehicle-event.ts';

/** One `Plate` of the list that `vehicleDetect/plates` returns. */
export function pollReport(plate: unknown, { zone }: ReadingContext): Report {
  const number = fieldText(plate, 'plateNumber', 'licensePlate');
  const picture = fieldText(plate, 'picName');
  const captured = fieldText(plate, 'captureTime');
  const channel = fieldText(plate, 'channelID', 'channel');
  return {
    key: picture ?? (captured && number ? `${captured}/${number}` : null),
    device: namesOf(channel),
    ...reportedTime(zone, ['captureTime', captured, (text) => captureTime(String(text), zone)]),
    event: vehicleEvent({
      plate: number,
      confidence: confidenceOf(fieldText(plate, 'confidenceLevel', 'matchingResult/confidence'), 100),
      tags: ['Hikvision'],
      metadata: {
        vendor: 'hikvision',
        channel,
        lane: fieldText(plate, 'laneNo', 'line'),
        direction: knownText(plate, 'direction'),
        country: knownText(plate, 'country'),
        raw: plate,
      },
    }),
  };
}

/**
 * Firmware writes `20200424T1616270000` for `20200424T161627+0000`. An offset without its sign is used only if it
 * is zero; otherwise the time is local.
 */
function captureTime(text: string, zone: Zone): number | null {
  const found = /^(\d{8}T\d{6})(\d{4})$/.exec(text);
  if (!found) return isoTime(text, zone);
  return isoTime(found[1], found[2] === '0000' ? 'utc' : zone);
}
