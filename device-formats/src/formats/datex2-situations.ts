import type { IncidentType } from '@gantry/contract/incidents';
import { isoTime, reportedTime, type Zone } from '../device-time.ts';
import type { ObservedEvent, ReadingContext, Report } from '../format.ts';
import { namesOf, objectOf, valueAt } from '../json-values.ts';
import { kindOf, numberOf } from '../observed.ts';
import { placeAt } from '../place.ts';
import type { Found } from '../reading.ts';
import { allUnder, idOf, type Json, listOf, typed, versionOf, wordOf } from './datex2-json.ts';

/**
 * Types of records that determine the type of the incident. Other records have the type of the first record of their
 * situation that determines one.
 */
const INCIDENTS: readonly (readonly [RegExp, IncidentType])[] = [
  [/^Accident$/, 'COLLISION'],
  [/Works$|^Roadworks$/i, 'ROADWORKS'],
  [/^AbnormalTraffic$/, 'CONGESTION'],
  [/^(?:PoorEnvironmentConditions|WeatherRelatedRoadConditions|EnvironmentalObstruction)$/, 'WEATHER'],
  [/Obstruction$|^NonWeatherRelatedRoadConditions$/, 'OBSTRUCTION'],
];

/** The obstructing vehicles that are broken down. Others, such as convoys and the vehicles of road works, are not. */
const BROKEN_DOWN = /^(?:brokenDown|abandonedVehicle|damagedVehicle|vehicleInDifficulty)/i;

const SEVERITIES: ReadonlyMap<string, NonNullable<ObservedEvent['severity']>> = new Map([
  ['highest', 'CRITICAL'],
  ['high', 'HIGH'],
  ['medium', 'MEDIUM'],
  ['low', 'LOW'],
  ['lowest', 'LOW'],
  ['none', 'LOW'],
]);

/** How the names of fields end that contain the kind of an accident, obstruction, work or measure. */
const KIND = /(?:Type|Cause|Service)$/;

/** The records of all situations in a body. */
export function situationsIn(
  body: unknown,
  publication: { readonly fields: Json },
  context: ReadingContext,
): Found[] {
  return allUnder(body, 'situation').flatMap((situation) => {
    const records = listOf(situation.situationRecord).map((record) => typed(objectOf(record)));
    const causing = records.find(({ type, fields }) => incidentTypeOf(type, fields) !== null) ?? records[0];
    const cause = (causing && incidentTypeOf(causing.type, causing.fields)) ?? 'OTHER';
    return records.map(({ type, fields }): Found => {
      const own = incidentTypeOf(type, fields);
      const incidentType = own ?? cause;
      // Measures, such as a diversion, belong to the incident of their cause.
      const incidentKey = idOf(own === null && causing ? causing.fields : fields);
      const record = {
        type,
        fields,
        causing: causing?.fields ?? fields,
        situation,
        publication: publication.fields,
        incidentType,
        incidentKey,
      };
      return { report: reportOf(record, context), warning: severityIn(record).warning };
    });
  });
}

function incidentTypeOf(type: string, fields: Json): IncidentType | null {
  const kind = wordOf(fields.vehicleObstructionType ?? fields.abnormalTrafficType) ?? '';
  if (/wrong(?:Carriageway|Way)|wrongDirection/i.test(kind)) return 'WRONG_WAY_DRIVER';
  if (type === 'VehicleObstruction' && BROKEN_DOWN.test(kind)) return 'BREAKDOWN';
  return INCIDENTS.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/**
 * Whether the record says that what it reports is over: by its life cycle, or by a period that ended before the
 * publication, unless the record is active or suspended regardless of its period.
 */
function endIn(fields: Json, publication: Json, zone: Zone): 'ended' | 'cancelled' | null {
  const { end, cancel } = objectOf(
    valueAt(fields, 'management.lifeCycleManagement') ?? fields.lifeCycleManagement,
  );
  const isTrue = (each: unknown): boolean => each === true || wordOf(each) === 'true';
  if (isTrue(cancel)) return 'cancelled';
  if (isTrue(end)) return 'ended';
  const { validityStatus, validityTimeSpecification } = objectOf(fields.validity);
  if (wordOf(validityStatus) !== 'definedByValidityTimeSpec') return null;
  const until = isoTime(wordOf(objectOf(validityTimeSpecification).overallEndTime), zone);
  const published = isoTime(wordOf(publication.publicationTime), zone);
  return until !== null && published !== null && until <= published ? 'ended' : null;
}

interface SituationRecord {
  readonly type: string;
  readonly fields: Json;
  /** The record that determines what the situation is. */
  readonly causing: Json;
  readonly situation: Json;
  readonly publication: Json;
  readonly incidentType: IncidentType;
  /** The id of the record that all versions and records of the incident have in common. */
  readonly incidentKey: string | null;
}

function reportOf(record: SituationRecord, { zone }: ReadingContext): Report {
  const { type, fields, situation, publication, incidentType, incidentKey } = record;
  const time = wordOf(
    fields.situationRecordObservationTime ??
      fields.situationRecordVersionTime ??
      fields.situationRecordCreationTime ??
      publication.publicationTime,
  );
  const id = idOf(fields);
  const version = versionOf(fields) ?? time;
  const end = endIn(fields, publication, zone);
  const { severity, word } = severityIn(record);
  const validity = objectOf(fields.validity);
  const period = objectOf(validity.validityTimeSpecification);
  const kind = kindIn(fields);
  const creator = objectOf(publication.publicationCreator);
  return {
    // The id of the record, not that of the situation, whose records begin and end separately. A period may end without
    // another version.
    key: id === null ? null : [id, version ?? '', ...(end === null ? [] : [end])].join('/').slice(0, 200),
    device: namesOf(wordOf(creator.nationalIdentifier)),
    ...reportedTime(zone, ['situationRecord', time]),
    event: {
      ...kindOf({ isIncident: true }),
      description: commentIn(fields) ?? spoken(type, kind),
      severity,
      location: placeIn(fields),
      vehicleType: wordOf(
        allUnder(fields, 'obstructingVehicle').flatMap((each) => allUnder(each, 'vehicleCharacteristics'))[0]
          ?.vehicleType,
      ),
      tags: namesOf('DATEX II', wordOf(creator.nationalIdentifier)),
      metadata: {
        vendor: 'datex2',
        incidentType,
        incidentKey,
        incidentEnd: end,
        recordType: type,
        kind,
        record: id,
        version: versionOf(fields),
        situation: idOf(situation),
        severityRaw: word,
        validityStatus: wordOf(validity.validityStatus),
        validFrom: wordOf(period.overallStartTime),
        validUntil: wordOf(period.overallEndTime),
        probability: wordOf(fields.probabilityOfOccurrence),
        road: roadIn(fields),
        country: wordOf(creator.country),
        raw: fields,
      },
    },
  };
}

/** The kind of an accident, obstruction or work: the first field that names one. */
function kindIn(fields: Json): string | null {
  const name = Object.keys(fields).find(
    (each) => KIND.test(each) && wordOf(fields[each]) !== null && !each.startsWith('@'),
  );
  return name === undefined ? null : wordOf(fields[name]);
}

/** The severity of a record without a known one. */
const USUAL_SEVERITY = 'MEDIUM';

/** The severity of a record, otherwise of its situation or of the record that causes it, with the sender's word for it; a warning if that is not known. */
function severityIn({ fields, situation, causing }: SituationRecord) {
  const words = [fields.severity, situation.overallSeverity, causing.severity]
    .map(wordOf)
    .filter((each) => each !== null);
  const isKnown = (each: string): boolean => SEVERITIES.has(each.toLowerCase());
  const word = words.find(isKnown) ?? words[0] ?? null;
  const severity = SEVERITIES.get(word?.toLowerCase() ?? '');
  const strange = words.find((each) => !isKnown(each))?.slice(0, 50);
  const warning =
    strange === undefined
      ? null
      : `The severity ${strange} is none of ${[...SEVERITIES.keys()].join(', ')}, so ${severity ?? USUAL_SEVERITY} is used`;
  return { severity: severity ?? USUAL_SEVERITY, word, warning } as const;
}

/** The comments for the public, a line for each, with all their values: of several lines, and in all languages. */
function commentIn(fields: Json): string | null {
  const texts = listOf(fields.generalPublicComment).flatMap((each) => valuesIn(objectOf(each).comment));
  return [...new Set(texts)].join('\n') || null;
}

/** The texts of a multilingual string: `{values: {value}}`, `{values}`, `{value}`, or lists of these. */
function valuesIn(given: unknown): string[] {
  if (Array.isArray(given)) return given.flatMap(valuesIn);
  if (typeof given !== 'object' || given === null) return namesOf(given);
  const { values, value, '#text': text } = given as Json;
  return valuesIn(values ?? value ?? text ?? null);
}

/** A description from the names of the type and the kind: "Accident: accident involving heavy lorries" for example. */
function spoken(type: string, kind: string | null): string {
  const words = (name: string) =>
    name.replace(/(?<=[a-z0-9])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return [type || 'Situation', kind]
    .filter((each) => each !== null)
    .map(words)
    .join(': ');
}

/** The first valid coordinates. Those for display take precedence over those of points, and these over those of lines. */
function placeIn(fields: Json) {
  const points = [
    ...allUnder(fields, 'coordinatesForDisplay'),
    ...allUnder(fields, 'locationForDisplay'),
    ...allUnder(fields, 'pointCoordinates'),
    ...allUnder(fields, 'coordinates'),
    ...allUnder(fields, 'coordinate'),
  ];
  for (const { latitude, longitude } of points) {
    const place = placeAt(numberOf(wordOf(latitude)), numberOf(wordOf(longitude)));
    if (place) return place;
  }
  return placeOfPosList(fields);
}

/** The first position of a line of GML: latitude and longitude, separated by a blank. */
function placeOfPosList(fields: Json) {
  const lines = [...allUnder(fields, 'gmlLineString'), ...allUnder(fields, 'lineString')];
  const text = lines.map(({ posList, pos }) => wordOf(posList ?? pos)).find((each) => each !== null);
  const [latitude, longitude] = (text ?? '').split(/\s+/).map(Number);
  return text ? placeAt(latitude, longitude) : null;
}

function roadIn(fields: Json): string | null {
  const [road] = allUnder(fields, 'roadInformation');
  return wordOf(road?.roadNumber ?? road?.roadName) ?? null;
}
