import { basicClassOf } from '@gantry/contract/vehicle-classes';
import { isoTime } from '../device-time.ts';
import type { ReadingContext } from '../format.ts';
import { namesOf, objectOf, textOf, valueAt } from '../json-values.ts';
import { measured, numberOf, speedOf } from '../observed.ts';
import { laneOf } from '../passage.ts';
import { type Counted, intervalAt, periodFound } from '../periods.ts';
import type { Found } from '../reading.ts';
import { allUnder, idOf, type Json, typed, wordOf, wordUnder } from './datex2-json.ts';

/** A value of a site, with the index by which the site table describes it. */
interface Value {
  readonly index: string | null;
  readonly fields: Json;
}

/** What was measured at a site, by the types of data. */
interface Site {
  readonly id: string;
  readonly flows: readonly Value[];
  readonly speeds: readonly Value[];
  readonly occupancies: readonly Value[];
  readonly time: Json | string | null;
}

/**
 * The counts of a publication of measured data. A flow is in vehicles per hour, so the length of its interval must be known: by
 * the value itself, by the option `periodSeconds`, or by the numbers of vehicles that the flows were computed from.
 * @param publishedAt Unix milliseconds
 */
export function countsIn(sites: readonly Json[], publishedAt: number, context: ReadingContext): Found[] {
  const read = sites.map(siteOf);
  const usual = secondsByInputs(read.flatMap(({ flows }) => flows));
  return read.flatMap((site) => countsAt(site, usual, publishedAt, context));
}

function siteOf(site: Json): Site {
  const values = [...allUnder(site, 'physicalQuantity'), ...allUnder(site, 'measuredValue')].flatMap(
    (outer) => {
      const index = textOf(outer['@index'] ?? outer.index ?? outer._index);
      const found = [...allUnder(outer, 'basicData'), ...allUnder(outer, 'basicDataValue')];
      return found.map((value) => ({ index, ...typed(value) }));
    },
  );
  const ofType = (name: RegExp) => values.filter(({ type }) => name.test(type));
  const time = site.measurementTimeDefault;
  return {
    id: idOf(objectOf(site.measurementSiteReference)) ?? 'site',
    flows: ofType(/^TrafficFlow(?:Values?)?$/),
    speeds: ofType(/^TrafficSpeed(?:Values?)?$/),
    occupancies: ofType(/^TrafficConcentration(?:Values?)?$/),
    time: typeof time === 'string' ? time : objectOf(time),
  };
}

function countsAt(site: Site, usual: number | null, publishedAt: number, context: ReadingContext): Found[] {
  const { zone, options } = context;
  return site.flows.map(({ index, fields }) => {
    const rate = rateOf(fields);
    const at = isoTime(
      wordOf(fields.measurementOrCalculationTime) ??
        wordOf(valueAt(site.time, 'timeValue')) ??
        wordOf(site.time) ??
        '',
      zone,
    );
    const named = measured(wordOf(fields.measurementOrCalculationPeriod)) ?? options.periodSeconds ?? usual;
    const meaning = wordOf(valueAt(site.time, 'timeMeaning'))?.toLowerCase() ?? '';
    const label = meaning.startsWith('begin') ? 'START' : meaning.startsWith('end') ? 'END' : null;
    const interval = intervalAt(at, named, label, publishedAt, options);
    const seconds = 'seconds' in interval ? interval.seconds : 0;
    const vehicles = rate === null ? null : Math.round(((rate * seconds) / 3_600) * 100) / 100;
    // A flow that was rounded to a whole number per hour is not a whole number of vehicles in a short interval.
    const isWhole = vehicles !== null && Math.abs(vehicles - Math.round(vehicles)) <= 0.02;
    if (rate !== null && seconds > 0 && !isWhole) {
      return {
        is: 'aggregate',
        note: `A flow of ${rate} vehicles per hour is not a whole number of vehicles in ${seconds} s: the option periodSeconds may be wrong`,
      };
    }
    const volume = vehicles === null ? null : Math.round(vehicles);
    return periodFound(namesOf(site.id), interval, {
      ...placeOf(site, index, fields),
      ...withClass(fields, volume),
      ...(volume !== null && volume > 0 && meansOf(site, index)),
    });
  });
}

/** Vehicles per hour; null where the sender says that it was not measured: -1, or an error. */
function rateOf(fields: Json): number | null {
  const flow = objectOf(fields.vehicleFlow ?? fields.vehicleFlowValue);
  const rate = numberOf(wordOf(flow.vehicleFlowRate));
  return hasFailed(flow) || rate === null || rate < 0 ? null : rate;
}

/**
 * The length of the intervals in seconds, if all flows of a publication were computed from numbers of vehicles in intervals of
 * one length: 101 vehicles are 1010 per hour in 360 s. Where `numberOfInputValuesUsed` is something else, they disagree.
 */
function secondsByInputs(flows: readonly Value[]): number | null {
  const found = flows.flatMap(({ fields }) => {
    const flow = objectOf(fields.vehicleFlow ?? fields.vehicleFlowValue);
    const used = measured(textOf(flow['@numberOfInputValuesUsed'] ?? flow.numberOfInputValuesUsed));
    const rate = measured(wordOf(flow.vehicleFlowRate));
    return rate === null ? [] : [{ rate, seconds: used === null ? null : (3_600 * used) / rate }];
  });
  const [first] = found;
  const seconds = first?.seconds ?? null;
  const isOne = found.every(
    (each) => each.seconds !== null && Math.abs(each.seconds - (seconds ?? 0)) < 0.01,
  );
  const rates = new Set(found.map(({ rate }) => rate));
  return seconds !== null && isOne && rates.size > 1 ? Math.round(seconds) : null;
}

/** The lane. Only the site table says what each index of a site is, so it is the name of a lane where there are several. */
function placeOf({ flows }: Site, index: string | null, fields: Json): Counted {
  const lane =
    laneOf(wordUnder(fields, 'specificLane')) ??
    (flows.length > 1 && index !== null ? `index ${index}` : null);
  return lane === null ? {} : { lane };
}

function withClass(fields: Json, volume: number | null): Counted {
  const [kind] = allUnder(fields, 'forVehiclesWithCharacteristicsOf');
  const word = wordOf(kind?.vehicleType);
  if (volume === null || word === null || /^any/i.test(word)) return { volume };
  return { byClass: { scheme: 'BASIC', counts: { [basicClassOf(word)]: volume } } };
}

/** The means that belong to a flow: those with its index, or the only ones of a site with one flow. */
function meansOf(site: Site, index: string | null): Counted {
  const isOnly = site.flows.length === 1;
  const own = (values: readonly Value[]) =>
    values.length === 1 && isOnly
      ? values[0]?.fields
      : values.find((each) => !isOnly && index !== null && each.index === index)?.fields;
  const speed = objectOf(own(site.speeds)?.averageVehicleSpeed);
  const mean = hasFailed(speed) ? null : speedOf(wordOf(speed.speed));
  const occupancy = objectOf(own(site.occupancies)?.occupancy);
  const percent = hasFailed(occupancy) ? null : numberOf(wordOf(occupancy.percentage));
  return {
    ...(mean !== null && { speed: { mean } }),
    ...(percent !== null && percent >= 0 && { occupancy: percent }),
  };
}

function hasFailed(value: Json): boolean {
  return value.dataError === true || wordOf(value.dataError) === 'true';
}
