import { isoTime, type Zone } from '../device-time.ts';
import { anyText, fieldText, objectsIn } from '../fields.ts';
import type { ReadingContext } from '../format.ts';
import { measured, numberOf, speedOf } from '../observed.ts';
import { directionOf, laneOf } from '../passage.ts';
import { type Counted, type IntervalFound, intervalBetween, periodFound } from '../periods.ts';
import type { Found } from '../reading.ts';

/** The numbers of vehicles of a lane, by the names of ISAPI, of the platform and of the SDK. */
const LIGHT = ['lightVehicleNum', 'lightVehicle', 'smallCarsNum', 'smallCarNum'];
const HEAVY = [
  ['midVehicleNum', 'midVehicle', 'midCarsNum', 'midCarNum'],
  ['heavyVehicleNum', 'heavyVehicle', 'bigCarsNum', 'bigCarNum'],
  ['oversizeVehicleNum', 'oversizeVehicle'],
];
const ALL = ['laneVolume', 'vehicleNum', 'vehicleCount', 'trafficFlow', 'volume'];

/**
 * The counts of traffic parameter statistics (TPS), one for each lane. Their field names are documented for the platform and the
 * SDK; cameras that send them over HTTP were not available.
 */
export function countsOf(alert: unknown, device: readonly string[], context: ReadingContext): Found[] {
  const lanes = objectsIn(alert).filter(
    (each) => fieldText(each, ...LIGHT, ...HEAVY.flat(), ...ALL) !== null,
  );
  if (lanes.length === 0)
    return [{ is: 'aggregate', note: 'Figures of several vehicles without a count are not events' }];
  const interval = intervalOf(alert, context.zone);
  return lanes.map((lane) => periodFound(device, interval, countedOn(lane, context)));
}

function intervalOf(alert: unknown, zone: Zone): IntervalFound {
  const start = isoTime(anyText(alert, 'startTime', 'statisticalStartTime', 'beginTime') ?? '', zone);
  const end = isoTime(anyText(alert, 'endTime', 'stopTime', 'statisticalEndTime') ?? '', zone);
  const seconds = measured(anyText(alert, 'samplePeriod', 'statisticalPeriod'));
  return intervalBetween(start, end ?? (start !== null && seconds !== null ? start + seconds * 1_000 : null));
}

function countedOn(lane: unknown, { options }: ReadingContext): Counted {
  const numberIn = (names: readonly string[]): number | null => {
    const number = numberOf(fieldText(lane, ...names));
    return number === null || number < 0 ? null : number;
  };
  const light = numberIn(LIGHT);
  const heavy = HEAVY.map(numberIn).filter((each) => each !== null);
  const sizes = (light ?? 0) + heavy.reduce((sum, each) => sum + each, 0);
  const all = numberIn(ALL);
  // Vehicles of no size are in none of the classes.
  const hasClasses = light !== null && heavy.length > 0 && (all === null || all === sizes);
  const volume = all ?? (light === null && heavy.length === 0 ? null : sizes);
  const mean = speedOf(
    fieldText(lane, 'vehicleSpeed', 'laneVelocity', 'averageSpeed', 'speed'),
    options.speedUnit,
  );
  const headway = measured(fieldText(lane, 'timeHeadway'));
  const occupancy = numberOf(fieldText(lane, 'timeOccupyRation', 'timeOccupancyRate'));
  return {
    direction: directionOf(fieldText(lane, 'direction')) ?? undefined,
    lane: laneOf(fieldText(lane, 'laneNo', 'lineNo', 'laneId', 'lane', 'line')) ?? undefined,
    ...(hasClasses
      ? { byClass: { scheme: 'LIGHT_HEAVY', counts: { LIGHT: light, HEAVY: sizes - light } } }
      : { volume }),
    ...(mean !== null && volume !== 0 && { speed: { mean } }),
    ...(headway !== null && { meanHeadway: headway }),
    ...(occupancy !== null && occupancy >= 0 && occupancy <= 100 && { occupancy }),
  };
}
