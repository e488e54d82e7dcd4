import { isoTime, reportedTime } from '../device-time.ts';
import { type ConnectionValues, type Format, type ReadingContext, type Report, without } from '../format.ts';
import { namesOf, objectOf, valueAt } from '../json-values.ts';
import { kindOf, numberOf, plateOf, speedOf } from '../observed.ts';
import { passageFieldsOf } from '../passage.ts';
import { type Found, readingOfAll, refusalOfContent } from '../reading.ts';
import { asJson } from '../xml.ts';
import { countsIn } from './datex2-counts.ts';
import { allUnder, idOf, type Json, typed, wordOf, wordUnder } from './datex2-json.ts';
import { situationsIn } from './datex2-situations.ts';

/** Publications that are neither situations nor measurements. */
const OTHERS = /(\w{0,100}(?:SiteTable|PredefinedLocations|Vms|VMS|Parking|Energy|Facilit)\w{0,100})/;

/** What a supplier that pushes over SOAP expects (exchange of version 2; from its documentation, unverified). */
const ACKNOWLEDGEMENT =
  '<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
  '<d2LogicalModel xmlns="http://datex2.eu/schema/2/2_0" modelBaseVersion="2"><exchange><supplierIdentification>' +
  '<country>other</country><nationalIdentifier>Gantry</nationalIdentifier></supplierIdentification>' +
  '<response>acknowledge</response></exchange></d2LogicalModel></soap:Body></soap:Envelope>';

/**
 * Publications of DATEX II: XML of versions 2 and 3, alone, in a message container or in SOAP, and JSON of version 3. Records
 * of situations are incidents; flows are counts, and other measurements figures, except those of individual vehicles. Tested with payloads captured in
 * Finland, France and the Netherlands and with the official JSON example; SOAP and individual vehicles follow the schemas.
 */
export const datex2: Format = {
  name: 'datex2',
  label: 'DATEX II (version 2 and 3)',
  transports: ['http'],
  authentication: ['basic', 'header'],
  repeats: true,
  refusalOf: refusalOfContent,
  read({ parts, receivedAt }, context) {
    const unreadable = parts.find(({ content }) => content.kind === 'unreadable')?.content;
    if (unreadable?.kind === 'unreadable') return without('unreadable', unreadable.reason);
    const bodies = parts.flatMap(({ content }) => {
      if (content.kind === 'xml') return [{ [content.root.name]: asJson(content.root) }];
      return content.kind === 'json' ? [content.value] : [];
    });
    if (bodies.length === 0) return without('unreadable', 'The body is neither XML nor JSON');
    return readingOfAll(
      bodies.flatMap((body) => foundIn(body, receivedAt, context)),
      'The message is not a publication of DATEX II',
    );
  },
  answer: () => ({ contentType: 'text/xml; charset=utf-8', body: ACKNOWLEDGEMENT }),
  instructions: ({ url, token, username, password }: ConnectionValues) => [
    'Ask the operator of the traffic information system or of the national access point for a push subscription (DATEX II, SituationPublication).',
    `As the address of the client, give ${url}.`,
    `If the operator requires credentials, give the user name ${username} and the password ${password} (Basic), or the header "Authorization: Bearer ${token}".`,
    'Where only pull is offered, fetch the snapshot at intervals on a computer of your own, and send it unchanged: curl --compressed <snapshot> | curl --data-binary @- -H "Content-Type: application/xml" followed by the address.',
    'Every version of a situation record becomes one event, however often it is sent. Later versions join the incident that the first one opened, as long as it is open, and raise its severity and change its description; a lower severity is only noted in its timeline. The end or cancellation of the record resolves it, and a version after that opens another. Flows of measured data are counts of their interval, and are not events; travel times are kept with the messages.',
    'Assign each measurement site to a sensor in the option sensors. If values do not name their interval, set the option periodSeconds (60 for the minutes of NDW), and periodTime if the time is the end of it. Where a site has several flows, each is a lane named by its index: the site table says which of them are lanes and which are classes.',
  ],
};

function foundIn(body: unknown, receivedAt: number, context: ReadingContext): Found[] {
  const publication = publicationOf(body);
  const sites = allUnder(body, 'siteMeasurements');
  const elaborated = allUnder(body, 'elaboratedData');
  const publishedAt = isoTime(wordOf(publication.fields.publicationTime) ?? '', context.zone) ?? receivedAt;
  const found = [
    ...situationsIn(body, publication, context),
    ...sites.flatMap((site) => vehiclesAt(site, context)),
    ...countsIn(sites, publishedAt, context),
  ];
  const figures = sites.length + elaborated.length;
  if (figures > 0 && found.length === 0) {
    return [{ is: 'aggregate', note: `Measurements at ${figures} sites are not single vehicles` }];
  }
  if (found.length > 0) return found;
  if (
    allUnder(body, 'exchange').some(({ keepAlive }) => wordOf(keepAlive) === 'true' || keepAlive === true)
  ) {
    return [{ is: 'heartbeat', note: 'A keep-alive of the exchange' }];
  }
  const other = OTHERS.exec(
    `${publication.type} ${Object.keys(objectOf(publication.fields)).join(' ')}`,
  )?.[1];
  return other ? [{ is: 'nothing', note: `${other} has neither situations nor measurements` }] : [];
}

/** The publication that contains everything else: `payloadPublication` in version 2, `payload` in version 3. */
function publicationOf(body: unknown): { readonly type: string; readonly fields: Json } {
  const [found] = [...allUnder(body, 'payloadPublication'), ...allUnder(body, 'payload')];
  if (!found) return typed(objectOf(body));
  const inside = Object.entries(found).find(([name]) => /Publication$/.test(name));
  return inside ? { type: inside[0], fields: objectOf(inside[1]) } : typed(found);
}

/** The individual vehicles that a site measured. */
function vehiclesAt(site: Json, context: ReadingContext): Found[] {
  const reference = objectOf(site.measurementSiteReference);
  const values = [...allUnder(site, 'basicData'), ...allUnder(site, 'basicDataValue')];
  return values.flatMap((value, at) => {
    const { type, fields } = typed(value);
    if (type !== 'IndividualVehicleDataValues') return [];
    return [{ report: vehicleReport(fields, idOf(reference) ?? 'site', site, at, context) }];
  });
}

function vehicleReport(
  fields: Json,
  site: string,
  at: Json,
  index: number,
  { zone }: ReadingContext,
): Report {
  const measured = objectOf(fields.individualVehicleSpeed ?? fields.speed);
  const hasFailed = wordOf(measured.dataError) === 'true' || measured.dataError === true;
  const speed = hasFailed ? null : speedOf(wordOf(measured.speed));
  const vehicle = objectOf(fields.individualVehicle ?? fields.vehicle);
  const plate = plateOf(
    wordOf(vehicle.vehicleRegistrationPlateIdentifier ?? fields.vehicleRegistrationPlateIdentifier),
  );
  const time = wordOf(
    valueAt(fields, 'arrivalTime.dateTime') ??
      valueAt(fields, 'arrivalTime.timeValue') ??
      fields.arrivalTime ??
      fields.measurementOrCalculationTime ??
      valueAt(at, 'measurementTimeDefault.timeValue') ??
      at.measurementTimeDefault,
  );
  const [kind] = [
    ...allUnder(fields, 'vehicleCharacteristics'),
    ...allUnder(fields, 'forVehiclesWithCharacteristicsOf'),
  ];
  const length = numberOf(wordOf(valueAt(objectOf(kind?.lengthCharacteristic), 'vehicleLength')));
  const lane = wordUnder(fields, 'specificLane');
  return {
    key: time === null ? null : `${site}@${time}/${index}`.slice(0, 200),
    device: namesOf(site),
    ...reportedTime(zone, ['measurementTime', time]),
    event: {
      ...kindOf({ plate, speed }),
      ...passageFieldsOf({
        lane,
        vehicleType: wordOf(kind?.vehicleType),
        length,
        headway: secondsUnder(fields, 'timeHeadway'),
        gap: secondsUnder(fields, 'timeGap'),
      }),
      licensePlateNumber: plate,
      vehicleSpeed: speed,
      vehicleType: wordOf(kind?.vehicleType),
      tags: ['DATEX II'],
      metadata: {
        vendor: 'datex2',
        device: site,
        lengthMetres: length,
        lane,
        raw: fields,
      },
    },
  };
}

/** A duration in seconds under the key, directly or as `duration`. */
function secondsUnder(fields: Json, key: string): unknown {
  const [found] = allUnder(fields, key);
  return wordOf(found?.duration) ?? wordUnder(fields, key);
}
