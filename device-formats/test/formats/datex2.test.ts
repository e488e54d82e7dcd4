import { describe, expect, it } from 'vitest';
import { datex2 } from '../../src/formats/datex2.ts';
import { devicePayload, readBody, readPayload } from './reading.ts';

describe('the payloads of DATEX II', () => {
  it('datex2-v2-situation-fi-roadworks.xml is one incident for each record, all of roadworks', async () => {
    const { reports, is } = await readPayload(datex2, 'datex2-v2-situation-fi-roadworks.xml');
    expect(is).toBe('reports');
    expect(
      reports.map(({ key, event }) => [key, event.metadata?.recordType, event.metadata?.incidentType]),
    ).toEqual([
      ['GUID5047012301/1', 'MaintenanceWorks', 'ROADWORKS'],
      ['GUID5047012302/1', 'RoadOrCarriagewayOrLaneManagement', 'ROADWORKS'],
      ['GUID5047012303/1', 'ReroutingManagement', 'ROADWORKS'],
    ]);
    expect(reports.map(({ event }) => event.metadata?.incidentKey)).toEqual(Array(3).fill('GUID5047012301'));
    expect(reports[0]).toMatchObject({
      occurredAt: Date.UTC(2026, 6, 14, 14, 4, 2, 57),
      event: {
        eventType: 'INCIDENT',
        severity: 'CRITICAL',
        description: expect.stringMatching(/^Tie 11698, eli Sipoonkirkontie, Sipoo\. Tietyö\./),
        metadata: {
          kind: 'roadworks',
          situation: 'GUID50467344',
          validFrom: '2026-07-19T21:00:00.000Z',
          validUntil: '2026-07-31T20:59:59.999Z',
        },
      },
    });
  });

  it('datex2-v3-situation-accident.json is a collision', async () => {
    expect(await readPayload(datex2, 'datex2-v3-situation-accident.json')).toMatchObject({
      reports: [
        {
          key: '2322/1',
          device: ['STA'],
          occurredAt: Date.UTC(2018, 9, 11, 12, 32),
          event: {
            eventType: 'INCIDENT',
            description: 'Accident: accident involving heavy lorries',
            metadata: {
              incidentType: 'COLLISION',
              kind: 'accidentInvolvingHeavyLorries',
              situation: '12345',
            },
          },
        },
      ],
    });
  });

  it('datex2-v35-situation-fi.xml is an incident without a type', async () => {
    expect(await readPayload(datex2, 'datex2-v35-situation-fi.xml')).toMatchObject({
      reports: [
        {
          key: 'GUID5046133001/1',
          event: {
            eventType: 'INCIDENT',
            severity: 'HIGH',
            metadata: { incidentType: 'OTHER', country: 'FI' },
          },
        },
      ],
    });
  });

  it.each([
    'datex2-v2-measureddata-fr-speeds.xml',
    'datex2-v3-measureddata-nl-ndw.xml',
    'amsterdam-traveltimes.xml',
  ])('%s contains only figures', async (file) => {
    expect(await readPayload(datex2, file)).toMatchObject({ is: 'aggregate', reports: [] });
  });
});

const record = (type: string, fields: string, version = '2') =>
  `<d2:payload xmlns:d2="d" xmlns:sit="s" xmlns:xsi="x" xsi:type="sit:SituationPublication"><sit:situation id="S">
  <sit:overallSeverity>low</sit:overallSeverity><sit:situationRecord xsi:type="sit:${type}" id="R" version="${version}">
  <sit:situationRecordVersionTime>2026-06-01T10:00:00.123456789Z</sit:situationRecordVersionTime>${fields}
  </sit:situationRecord></sit:situation></d2:payload>`;

describe('a situation', () => {
  it.each([
    ['VehicleObstruction', '<vehicleObstructionType>brokenDownVehicle</vehicleObstructionType>', 'BREAKDOWN'],
    ['VehicleObstruction', '<vehicleObstructionType>slowVehicle</vehicleObstructionType>', 'OBSTRUCTION'],
    ['VehicleObstruction', '<vehicleObstructionType>damagedVehicle</vehicleObstructionType>', 'BREAKDOWN'],
    [
      'VehicleObstruction',
      '<vehicleObstructionType>other</vehicleObstructionType><obstructingVehicle><vehicleCharacteristics><vehicleType>crashCushionLorry</vehicleType><vehicleUsage>roadMaintenance</vehicleUsage></vehicleCharacteristics></obstructingVehicle>',
      'OBSTRUCTION',
    ],
    ['VehicleObstruction', '<vehicleObstructionType>crashCushion</vehicleObstructionType>', 'OBSTRUCTION'],
    [
      'VehicleObstruction',
      '<vehicleObstructionType>slowMovingMaintenanceVehicle</vehicleObstructionType>',
      'OBSTRUCTION',
    ],
    ['VehicleObstruction', '', 'OBSTRUCTION'],
    [
      'VehicleObstruction',
      '<vehicleObstructionType>vehicleOnWrongCarriageway</vehicleObstructionType>',
      'WRONG_WAY_DRIVER',
    ],
    ['AbnormalTraffic', '<abnormalTrafficType>queuingTraffic</abnormalTrafficType>', 'CONGESTION'],
    ['ConstructionWorks', '', 'ROADWORKS'],
    ['PoorEnvironmentConditions', '', 'WEATHER'],
    ['AnimalPresenceObstruction', '', 'OBSTRUCTION'],
    ['PublicEvent', '', 'OTHER'],
  ])('with %s is an incident of its type', async (type, fields, incidentType) => {
    const { reports } = await readBody(datex2, record(type, fields));
    expect(reports).toMatchObject([
      {
        key: 'R/2',
        occurredAt: Date.UTC(2026, 5, 1, 10, 0, 0, 123),
        event: { severity: 'LOW', metadata: { incidentType } },
      },
    ]);
  });

  it.each([
    [
      '<locationReference><pointByCoordinates><pointCoordinates><latitude>52.5</latitude><longitude>13.4</longitude></pointCoordinates></pointByCoordinates></locationReference>',
    ],
    [
      '<groupOfLocations><locationForDisplay><latitude>52.5</latitude><longitude>13.4</longitude></locationForDisplay></groupOfLocations>',
    ],
    [
      '<locationReference><gmlLineString srsName="x"><posList>52.5 13.4 52.6 13.5</posList></gmlLineString></locationReference>',
    ],
  ])('has a place: %#', async (fields) => {
    const { reports } = await readBody(datex2, record('Accident', fields));
    expect(reports[0]?.event.location).toEqual({ latitude: 52.5, longitude: 13.4 });
  });

  const comment = (...values: string[]) =>
    `<generalPublicComment><comment><values>${values.join('')}</values></comment></generalPublicComment>`;

  it.each([
    [
      'lines of the United Kingdom',
      comment(
        '<value lang="en">Location : The M25 clockwise exit J10.</value>',
        '<value lang="en">Reason : Roadworks.</value>',
        '<value lang="en">Lane Closures : Lanes 1 and 2 are closed.</value>',
      ),
      'Location : The M25 clockwise exit J10.\nReason : Roadworks.\nLane Closures : Lanes 1 and 2 are closed.',
    ],
    [
      'several languages, in several comments',
      comment('<value lang="fi">Tie suljettu</value>', '<value lang="sv">Vägen avstängd</value>') +
        comment('<value lang="fi">Kiertotie</value>', '<value lang="fi">Tie suljettu</value>'),
      'Tie suljettu\nVägen avstängd\nKiertotie',
    ],
    ['an empty value', comment('<value lang="nl"/>', '<value lang="nl">Ongeval</value>'), 'Ongeval'],
    ['no value', comment('<value lang="de"/>'), 'Accident'],
  ])('is described by all values of its comments: %s', async (_, fields, description) => {
    const { reports } = await readBody(datex2, record('Accident', fields));
    expect(reports[0]?.event.description).toBe(description);
  });

  it.each([
    {
      value: [
        { lang: 'en', value: 'Closed' },
        { lang: 'fr', value: 'Fermé' },
      ],
    },
    [
      { lang: 'en', value: 'Closed' },
      { lang: 'fr', value: 'Fermé' },
    ],
  ])('is described by all values of its comments in JSON: %#', async (values) => {
    const sitAccident = { _id: 'A', generalPublicComment: [{ comment: { values } }] };
    const situation = [{ situationRecord: [{ sitAccident }] }];
    const { reports } = await readBody(
      datex2,
      JSON.stringify({ payload: { sitSituationPublication: { situation } } }),
    );
    expect(reports[0]?.event.description).toBe('Closed\nFermé');
  });

  it.each([
    ['<severity>High</severity>', 'HIGH', /^$/],
    ['<severity>unknown</severity>', 'LOW', /severity unknown is none of .*, so LOW is used/],
    ['<severity>catastrophic</severity>', 'LOW', /severity catastrophic is none of .*, so LOW is used/],
  ])('with %s and a situation of LOW is %s, and an unknown word is named', async (fields, severity, note) => {
    const reading = await readBody(datex2, record('Accident', fields));
    expect(reading.reports[0]?.event.severity).toBe(severity);
    expect(reading.note ?? '').toMatch(note);
  });

  it.each([
    ['unknown', 'MEDIUM', /severity unknown is none of highest, high, medium, low, lowest, none/],
    ['catastrophic', 'MEDIUM', /severity catastrophic is none of/],
    ['none', 'LOW', null],
  ])('whose only severity is %s has %s, and an unknown one is named', async (word, severity, note) => {
    const body = record('Accident', '').replace('>low<', `>${word}<`);
    const reading = await readBody(datex2, body);
    expect(reading.reports[0]?.event).toMatchObject({ severity, metadata: { severityRaw: word } });
    expect(reading.note ?? '').toMatch(note ?? /^$/);
  });

  it('without a severity is MEDIUM, and nothing is named', async () => {
    const { reports, note } = await readPayload(datex2, 'datex2-v3-situation-accident.json');
    expect([reports[0]?.event.severity, note]).toEqual(['MEDIUM', null]);
  });

  const lifeCycle = (name: string, value: string) =>
    `<management><lifeCycleManagement><${name}>${value}</${name}></lifeCycleManagement></management>`;
  const validity = (status: string, until: string) =>
    `<validity><validityStatus>${status}</validityStatus><validityTimeSpecification><overallEndTime>${until}</overallEndTime></validityTimeSpecification></validity>`;

  it.each([
    ['its end', lifeCycle('end', 'true'), 'ended'],
    ['its cancellation', lifeCycle('cancel', 'true'), 'cancelled'],
    ['no end', lifeCycle('end', 'false'), null],
    ['a past period', validity('definedByValidityTimeSpec', '2026-06-01T12:00:00Z'), 'ended'],
    [
      'a past period in another zone',
      validity('definedByValidityTimeSpec', '2026-06-01T14:30:00+02:00'),
      null,
    ],
    ['a past period and that it is active', validity('active', '2026-06-01T12:00:00Z'), null],
    ['no period', validity('definedByValidityTimeSpec', ''), null],
  ])('that states %s reports it', async (_, fields, end) => {
    const body = record('Accident', fields).replace(
      '<sit:situation ',
      '<com:publicationTime>2026-06-01T12:10:00Z</com:publicationTime><sit:situation ',
    );
    const { reports } = await readBody(datex2, body);
    expect(reports).toMatchObject([
      {
        key: end === null ? 'R/2' : `R/2/${end}`,
        event: { metadata: { incidentKey: 'R', incidentEnd: end } },
      },
    ]);
  });

  it('is the same in SOAP', async () => {
    const body = (await devicePayload('datex2-v2-situation-fi-roadworks.xml'))
      .toString()
      .replace(/^<\?xml[^>]*>/, '');
    const soap = `<soap:Envelope xmlns:soap="s"><soap:Body>${body}</soap:Body></soap:Envelope>`;
    const bare = await readPayload(datex2, 'datex2-v2-situation-fi-roadworks.xml');
    expect(await readBody(datex2, soap, { contentType: 'text/xml' })).toEqual(bare);
    expect(datex2.answer?.('')).toMatchObject({ contentType: expect.stringContaining('xml') });
  });

  it('in JSON may have other prefixes and single objects for arrays', async () => {
    const accident = {
      _id: 'A',
      _version: '3',
      situationRecordVersionTime: '2026-06-01T10:00:00Z',
      severity: { value: 'high' },
    };
    const body = {
      messageContainer: {
        payload: [
          {
            sitSituationPublication: { situation: { _id: 'S', situationRecord: { sitAccident: accident } } },
          },
        ],
      },
    };
    expect((await readBody(datex2, JSON.stringify(body))).reports).toMatchObject([
      {
        key: 'A/3',
        event: { severity: 'HIGH', metadata: { recordType: 'Accident', incidentType: 'COLLISION' } },
      },
    ]);
  });
});

describe('measured data', () => {
  const site = (values: string) =>
    `<d2LogicalModel xmlns:xsi="x"><payloadPublication xsi:type="MeasuredDataPublication"><siteMeasurements>
    <measurementSiteReference id="M1"/><measurementTimeDefault>2026-06-01T10:00:00Z</measurementTimeDefault>
    <measuredValue index="1"><measuredValue><basicData xsi:type="IndividualVehicleDataValues">${values}</basicData></measuredValue></measuredValue>
    </siteMeasurements></payloadPublication></d2LogicalModel>`;

  it('of individual vehicles are events', async () => {
    const values = '<individualVehicleSpeed><speed>61.5</speed></individualVehicleSpeed>';
    expect((await readBody(datex2, site(values))).reports).toMatchObject([
      {
        key: 'M1@2026-06-01T10:00:00Z/0',
        device: ['M1'],
        event: { eventType: 'SPEED_DETECTION', vehicleSpeed: 61.5 },
      },
    ]);
    const failed =
      '<individualVehicleSpeed><dataError>true</dataError><speed>61.5</speed></individualVehicleSpeed>';
    expect((await readBody(datex2, site(failed))).reports[0]?.event.vehicleSpeed).toBeNull();
  });

  it.each([
    ['<d2LogicalModel><exchange><keepAlive>true</keepAlive></exchange></d2LogicalModel>', 'heartbeat'],
    [
      '<d2LogicalModel><payloadPublication type="MeasurementSiteTablePublication"/></d2LogicalModel>',
      'nothing',
    ],
    ['<a><situation/><situation><situationRecord/></situation></a>', 'reports'],
    ['<a/>', 'nothing'],
    ['{"situation": [null, 5, {"situationRecord": [7, "x", []]}]}', 'reports'],
    ['{}', 'nothing'],
    ['hello', 'unreadable'],
    ['<a><b></a>', 'unreadable'],
  ])('is handled without an error: %s', async (body, is) => {
    expect((await readBody(datex2, body)).is).toBe(is);
  });
});
