import type { Role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect, processed } from './gateway-calls.ts';
import { eventually, sharedGantry } from './harness.ts';
import { mayCall, type ProcedurePath, type Who } from './permissions-table.ts';
import { png } from './sample-images.ts';
import { openStream } from './sse.ts';

// A plate is planted wherever one can be, and must not appear in anything that is sent to a user from whom plates are
// hidden.

const PLATE = 'XQ 77-PLT';
const SPELLINGS = /xq(?:[\s+-]|%20)*77(?:[\s+-]|%20)*plt/i;
const hiddenFrom = ['OPERATOR', 'ANALYST', 'FIELD', 'VIEWER'] as const satisfies readonly Role[];

let start: string;
const planted = {
  apiKey: '',
  sensorId: '',
  locationId: '',
  eventId: '',
  incidentId: '',
  agencyId: '',
  faultId: '',
  planId: '',
  worksId: '',
  caseId: '',
  exportId: '',
  certificateId: '',
  entryId: '',
  alertId: '',
  alarmId: '',
  silenceId: '',
  connectionId: '',
  messageId: '',
  devicePath: '',
  reportId: '',
  scheduleId: '',
  studyId: '',
  hotlistId: '',
  listedId: '',
  hitId: '',
  importId: '',
  logId: '',
  openShiftId: '',
  shiftId: '',
  image: '',
  noteImage: '',
};

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const range = { startDate: day(-2), endDate: day(1) };

const generate = async (token: string, kind: string, format: string, filters = {}): Promise<string> => {
  const input = { kind, format, filters, ...range };
  const { id } = await gantry.ok('reports.generate', input, { token });
  await eventually(
    () => gantry.ok('reports.getById', { id }, { token: admin }),
    ({ status }) => status === 'DONE',
  );
  return id;
};

const gantry = await sharedGantry({
  config: { HIDE_PLATES_FROM: hiddenFrom.join(',') },
  overrides: { timings: { evaluateAlarmsMs: 200 } },
});
const admin = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const before = await openStream(gantry.url, 'live.onAny', { token: admin });
  start = await eventually(
    async () => before.messages[0]?.id ?? '',
    (id) => id !== '',
  );
  before.close();

  planted.entryId = (
    await gantry.ok('watchlist.create', { pattern: PLATE, reason: `Stolen: ${PLATE}` }, { token: admin })
  ).id;
  planted.hotlistId = (await gantry.ok('hotlists.create', { name: 'Stolen' }, { token: admin })).id;
  const entry = { hotlistId: planted.hotlistId, plate: PLATE, reason: `Stolen: ${PLATE}` };
  planted.listedId = (await gantry.ok('hotlists.addEntry', entry, { token: admin })).id;
  const { body } = await gantry.fetch(`/hotlists/${planted.hotlistId}/file`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${admin}` },
    body: `plate,reason\n${PLATE},Stolen: ${PLATE}\n${PLATE}*,\n`,
  });
  planted.importId = body.id;
  await gantry.ok('hotlists.stage', { importId: body.id }, { token: admin });
  await eventually(
    () => gantry.ok('hotlists.getImport', { id: body.id }, { token: admin }),
    ({ state }) => state === 'REFUSED',
  );
  const place = { name: 'Bridge', address: 'Bridge Road 1', kind: 'SEGMENT' };
  planted.locationId = (await gantry.ok('locations.create', place, { token: admin })).id;
  planted.apiKey = await gantry.registerSensor();
  planted.sensorId = (await gantry.ok('sensors.getAllSensors', undefined, { token: admin }))[0].id;
  const fields = {
    licensePlateNumber: PLATE,
    description: `Read ${PLATE}, and again xq77plt`,
    metadata: { candidates: [{ plate: 'XQ77PLT' }], raw: 'xq-77-plt' },
    tags: [`plate ${PLATE}`],
    images: [png({ shade: 7 }).toString('base64')],
    violationType: 'SPEEDING',
  };
  planted.eventId = await gantry.ingest(planted.apiKey, { eventType: 'PLATE_RECOGNITION', ...fields });
  await gantry.ingest(planted.apiKey, { eventType: 'TRAFFIC_VIOLATION', ...fields });
  await gantry.ingest(planted.apiKey, { eventType: 'INCIDENT', ...fields });
  const { incidents } = await eventually(
    () => gantry.ok('incidents.getAll', {}, { token: admin }),
    ({ total }) => total === 1,
  );
  planted.incidentId = incidents[0].id;
  const { alerts } = await eventually(
    () => gantry.ok('watchlist.getAlerts', {}, { token: admin }),
    ({ alerts: [alert] }) => alert?.sightings === 3,
  );
  planted.alertId = alerts[0].id;
  planted.hitId = (await gantry.ok('hits.getAll', {}, { token: admin })).hits[0].id;
  await gantry.ok('hits.confirm', { id: planted.hitId, note: PLATE }, { token: admin });
  const hits = { name: 'Hits', severity: 'HIGH', condition: { source: 'HIT' } };
  await gantry.ok('alarmRules.create', hits, { token: admin });
  const { alarms } = await eventually(
    () => gantry.ok('alarms.getAll', {}, { token: admin }),
    // Of the watchlist and of the hotlist.
    (page) => page.alarms.length === 2,
  );
  planted.alarmId = alarms[0].id;
  const matchers = [{ label: 'SEVERITY', values: ['LOW'] }];
  const silence = { matchers, endsAt: day(1), reason: 'Works' };
  planted.silenceId = (await gantry.ok('silences.create', silence, { token: admin })).id;
  planted.logId = (await gantry.ok('log.add', { text: 'Hits wait' }, { token: admin })).id;
  planted.openShiftId = (await gantry.ok('shifts.start', { desk: 'North' }, { token: admin })).id;
  planted.shiftId = (await gantry.ok('shifts.start', { desk: 'South' }, { token: admin })).id;
  await gantry.ok('shifts.handOver', { id: planted.shiftId }, { token: admin });
  planted.image = (await gantry.ok('events.getById', { id: planted.eventId }, { token: admin })).images[0];
  const note = { id: planted.incidentId, note: 'Seen', images: [png({ shade: 9 }).toString('base64')] };
  await gantry.ok('incidents.addNote', note, { token: admin });
  const { timeline } = await gantry.ok('incidents.getById', { id: planted.incidentId }, { token: admin });
  planted.noteImage = timeline.at(-1).details.images[0];

  const desk = { name: 'Desk', kind: 'OTHER', email: 'desk@city.example' };
  const { id: agencyId } = await gantry.ok('agencies.create', desk, { token: admin });
  const step = { key: 'call', text: 'Call the desk', kind: 'NOTIFY', agencyId };
  planted.worksId = (
    await gantry.ok(
      'works.create',
      { title: 'Works', road: 'A1', startsAt: new Date(), endsAt: new Date(Date.now() + 86_400_000) },
      { token: admin },
    )
  ).id;
  planted.caseId = (await gantry.ok('cases.open', { eventId: planted.eventId }, { token: admin })).id;
  const noted = { id: planted.caseId, role: 'NOTE', text: `It is ${PLATE}` };
  await gantry.ok('cases.addItem', noted, { token: admin });
  const { rows } = await gantry.pool.query(
    `INSERT INTO case_exports (case_id, case_number, case_version, redacted, created_by, status, error)
     VALUES ($1, '2026-000001', 1, false, gen_random_uuid(), 'FAILED', 'It failed') RETURNING id`,
    [planted.caseId],
  );
  planted.exportId = rows[0].id;
  const certificate = { kind: 'CLOCK', number: '1', validFrom: day(-1), validUntil: day(1) };
  planted.certificateId = (
    await gantry.ok('certificates.add', { sensorId: planted.sensorId, ...certificate }, { token: admin })
  ).id;
  const plan = await gantry.ok('plans.create', { name: 'Plan', steps: [step] }, { token: admin });
  await gantry.ok('incidents.setPlan', { id: planted.incidentId, planId: plan.id }, { token: admin });
  planted.agencyId = agencyId;
  const fault = { sensorId: planted.sensorId, text: 'Dark', idempotencyKey: 'dark' };
  planted.faultId = (await gantry.ok('faults.report', fault, { token: admin })).id;
  planted.planId = plan.id;

  const mapping = '{"plate": body.plate}';
  const connection = await connect(gantry, 'mapped', { options: { mapping } });
  planted.connectionId = connection.id;
  const { pathname } = new URL(connection.url);
  planted.devicePath = pathname;
  await gantry.fetch(`${pathname}/XQ77PLT?plate=XQ77PLT`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ plate: PLATE, image: png({ shade: 8 }).toString('base64') }),
  });
  planted.messageId = (await processed(gantry, connection.id, 1))[0]?.id ?? '';

  const search = `?licensePlateNumber=${encodeURIComponent(PLATE)}&sort=severity`;
  await gantry.ok('views.create', { page: 'events', name: 'Stolen', search, shared: true }, { token: admin });
  planted.reportId = await generate(admin, 'EVENTS', 'CSV', { licensePlateNumber: PLATE });
  const schedule = { kind: 'VIOLATIONS', format: 'CSV', every: 'DAILY', hour: 3 };
  planted.scheduleId = (
    await gantry.ok(
      'reports.createSchedule',
      { ...schedule, filters: { licensePlateNumber: PLATE } },
      { token: admin },
    )
  ).id;
  const study = { kind: 'SPEED', title: 'Bridge', sensorId: planted.sensorId, ...range };
  planted.studyId = (await gantry.ok('studies.create', study, { token: admin })).id;
});

type Input = object | undefined;

/** The inputs with which procedures show the planted plate. Those that only read and have no entry need no input. */
const inputs = (): Partial<Record<ProcedurePath, Input>> => {
  const { eventId: id, incidentId, entryId, alertId, connectionId, messageId } = planted;
  return {
    'sensors.getById': { id: planted.sensorId },
    'sensors.getKeyInfo': { id: planted.sensorId },
    'sensors.getSignsOfLife': { id: planted.sensorId },
    'sensors.getClock': { id: planted.sensorId },
    'sensors.getStatusHistory': { id: planted.sensorId },
    'locations.getById': { id: planted.locationId },
    'connections.getById': { id: connectionId },
    'connections.getMessages': { connectionId },
    'connections.getMessage': { id: messageId },
    'connections.tryReading': { id: connectionId },
    'connections.onMessage': { connectionId },
    'events.getById': { id },
    'evidence.getProof': { eventId: id },
    'events.getReviews': { eventIds: [id] },
    'events.getHistory': { id },
    'events.review': { id, decision: 'CONFIRMED' },
    'events.markAsProcessed': { id },
    'incidents.getById': { id: incidentId },
    'incidents.getCameras': { id: incidentId },
    'incidents.getReports': { id: incidentId },
    'incidents.getReportPreview': { id: incidentId },
    'agencies.getById': { id: planted.agencyId },
    'faults.getById': { id: planted.faultId },
    'plans.getById': { id: planted.planId },
    'works.getById': { id: planted.worksId },
    'cases.getById': { id: planted.caseId },
    'cases.getExport': { exportId: planted.exportId },
    'cases.open': { hitId: planted.hitId },
    'certificates.getById': { id: planted.certificateId },
    'works.getWindows': {},
    'incidents.getStepNotice': { id: incidentId, key: 'call' },
    'incidents.acknowledge': { id: incidentId },
    'incidents.update': { id: incidentId, lanesBlocked: 1 },
    'incidents.attachEvent': { id: incidentId, eventId: id },
    'watchlist.getById': { id: entryId },
    'watchlist.update': { id: entryId, priority: 'HIGH' },
    'watchlist.getAlert': { id: alertId },
    'watchlist.acknowledgeAlert': { id: alertId },
    'hotlists.getById': { id: planted.hotlistId },
    'hotlists.getImports': { id: planted.hotlistId },
    'hotlists.getImport': { id: planted.importId },
    'hotlists.getLookBacks': { id: planted.hotlistId },
    'hotlists.getEntries': { hotlistId: planted.hotlistId },
    'hits.getById': { id: planted.hitId },
    'hits.getStats': { by: 'list' },
    'hits.setOutcome': { id: planted.hitId, outcome: 'FOUND', note: PLATE, correct: true },
    'alarms.getById': { id: planted.alarmId },
    'alarms.acknowledge': { id: planted.alarmId },
    'silences.getById': { id: planted.silenceId },
    'log.getById': { id: planted.logId },
    'shifts.getById': { id: planted.shiftId },
    'shifts.prepare': { id: planted.openShiftId },
    'reports.getAnalytics': { ...range, repeatPlatesFrom: 2 },
    'reports.getRepeatPlates': { ...range, from: 2 },
    'reports.getById': { id: planted.reportId },
    'reports.updateSchedule': { id: planted.scheduleId, hour: 4 },
    'views.getAll': { page: 'events' },
    'studies.get': { id: planted.studyId },
    'traffic.getFlow': { sensorId: planted.sensorId },
    'traffic.getSpeedDistribution': { sensorId: planted.sensorId },
    'traffic.getHourOfWeek': { sensorId: planted.sensorId },
    'traffic.getCounts': { sensorId: planted.sensorId, ...range },
    'traffic.getPeakHours': { sensorId: planted.sensorId, ...range },
    'traffic.getTurningMovements': { sensorId: planted.sensorId, ...range },
    'traffic.getDailyVolumes': { sensorId: planted.sensorId, ...range },
    'traffic.getAadt': { sensorId: planted.sensorId, year: 2026 },
    'traffic.getNetworkAadt': { year: 2025 },
    'traffic.getFactors': { sensorId: planted.sensorId, year: 2026 },
    'traffic.getDesignHours': { sensorId: planted.sensorId, year: 2026 },
    'traffic.getSpeedStudy': { sensorId: planted.sensorId, ...range },
    'traffic.getHeadways': { sensorId: planted.sensorId, ...range },
    'traffic.getDensity': { sensorId: planted.sensorId, ...range },
    'traffic.getTmgFile': {
      ...{ sensorId: planted.sensorId, year: 2026, month: 3, records: 'VOLUME' },
      ...{ stateCode: '11', stationId: '1', direction: 'NB' },
    },
  };
};

const readOnly =
  /\.(?:get\w*|health|me|onAny|onIngested|onStatusChanged|onChanged|onAlert|onHit|onMessage|tryReading)$/;

describe('users from whom plates are hidden', () => {
  const paths = Object.keys(mayCall) as ProcedurePath[];

  it('would otherwise see plates in these answers', async () => {
    const given = inputs();
    const showing: string[] = [];
    for (const path of paths.filter((each) => readOnly.test(each) && !/\.on[A-Z]/.test(each))) {
      const { body } = await gantry.call(path, given[path], { token: admin });
      if (SPELLINGS.test(JSON.stringify(body))) showing.push(path);
    }
    expect(showing.sort()).toEqual([
      'alarms.getAll',
      'alarms.getById',
      'audit.getActivity',
      'cases.getAll',
      'cases.getById',
      'connections.getMessage',
      'connections.getMessages',
      'connections.tryReading',
      'events.getAll',
      'events.getById',
      'events.getRecent',
      'evidence.getProof',
      'hits.getAll',
      'hits.getById',
      'hotlists.getEntries',
      'hotlists.getImport',
      'incidents.getAll',
      'incidents.getById',
      'reports.getAnalytics',
      'reports.getById',
      'reports.getRepeatPlates',
      'reports.getReports',
      'reports.getSchedules',
      'users.getActivityLog',
      'views.getAll',
      'watchlist.getAlert',
      'watchlist.getAlerts',
      'watchlist.getAll',
      'watchlist.getById',
    ]);
  });

  it.each(hiddenFrom)('see none in any answer: %s', async (name) => {
    const token = await gantry.tokenFor(name);
    const given = inputs();
    const shown: string[] = [];
    for (const path of paths) {
      const who: Who = mayCall[path];
      if (who === 'devices' || (who !== 'anybody' && !who.includes(name))) continue;
      if (/\.on[A-Z]/.test(path) || (!readOnly.test(path) && !(path in given))) continue;
      const { status, body } = await gantry.call(path, given[path], { token });
      if (status === 200) shown.push(path);
      expect([path, status < 500, JSON.stringify(body)]).toEqual([
        path,
        true,
        expect.not.stringMatching(SPELLINGS),
      ]);
      if (
        !/connections\.(?:getInstructions|getMessage|tryReading)$|updateSchedule|acknowledge|traffic/.test(
          path,
        )
      ) {
        expect([path, status, body]).toEqual([path, 200, expect.anything()]);
      }
    }
    expect(shown).toContain('events.getAll');
  });

  it('see what they need: the event with its place and time, and that there is a plate', async () => {
    const token = await gantry.tokenFor('FIELD');
    const shown = await gantry.ok('events.getById', { id: planted.eventId }, { token });
    const whole = await gantry.ok('events.getById', { id: planted.eventId }, { token: admin });
    expect(Object.keys(shown)).toEqual(Object.keys(whole));
    expect(shown).toMatchObject({
      id: planted.eventId,
      licensePlateNumber: '•••',
      description: 'Read •••, and again •••',
      tags: ['plate •••'],
      metadata: null,
      images: [],
      sensorName: 'Mast 7',
      timestamp: whole.timestamp,
    });
    expect(whole.licensePlateNumber).toBe(PLATE);
  });

  it.each([
    'live.onAny',
    'events.onIngested',
    'incidents.onChanged',
    'watchlist.onAlert',
    'hits.onHit',
    'alarms.onChanged',
    'cases.onChanged',
  ])('see no plate in the stream %s', async (procedure) => {
    const token = await gantry.tokenFor('OPERATOR');
    const of = async (who: string) => {
      const stream = await openStream(gantry.url, procedure, { token: who, lastEventId: start });
      await eventually(
        async () => stream.messages,
        (messages) => messages.some(({ data }) => data.type === 'upToDate'),
      );
      stream.close();
      return stream.messages.filter(({ data }) => data.type !== 'upToDate');
    };
    const [whole, shown] = [await of(admin), await of(token)];
    expect(JSON.stringify(whole)).toMatch(SPELLINGS);
    expect(JSON.stringify(shown)).not.toMatch(SPELLINGS);
    // What was announced after the first answer is in the second one alone.
    expect(shown.slice(0, whole.length).map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
  });

  it('see no plate in the raw messages of devices', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    for (const [path, input] of [
      ['connections.getMessage', { id: planted.messageId }],
      ['connections.tryReading', { id: planted.connectionId }],
    ] as const) {
      expect(await gantry.refusal(path, input, { token })).toMatchObject({
        status: 403,
        message: expect.stringContaining('HIDE_PLATES_FROM'),
      });
    }
    const { messages } = await gantry.ok(
      'connections.getMessages',
      { connectionId: planted.connectionId },
      { token },
    );
    expect(messages[0]).toMatchObject({ pictures: [] });
  });

  it.each([
    ['$number(body.plate)', 'The mapping failed at character 8: •••'],
    ['{"type": body.plate}', 'The result of the mapping is invalid: •••'],
  ])('see no value of a message in the reason why it was refused: %s', async (mapping, reason) => {
    const { id: connectionId, url } = await connect(gantry, 'mapped', { options: { mapping } });
    await gantry.fetch(new URL(url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ plate: PLATE }),
    });
    expect((await processed(gantry, connectionId, 1))[0]?.reason).toContain(PLATE);
    const token = await gantry.tokenFor('OPERATOR');
    const { messages } = await gantry.ok('connections.getMessages', { connectionId }, { token });
    expect(messages).toMatchObject([{ status: 'REFUSED', reason }]);
  });

  it('see no plate in the issues that a sensor reports', async () => {
    const apiKey = await gantry.registerSensor();
    const { id } = (await gantry.ok('sensors.getAllSensors', undefined, { token: admin })).find(
      (sensor: { apiKey: string }) => sensor.apiKey === apiKey,
    );
    const report = (message: string) =>
      gantry.ok('sensors.heartbeat', { apiKey, issues: [{ code: 'OCR', message, severity: 'critical' }] });
    await report('lens dirty');
    await gantry.ok('sensors.heartbeat', { apiKey });
    await report('stuck at KX 31-WV8');
    await gantry.ok('sensors.heartbeat', { apiKey });

    const seen = async (who: string) => {
      const stream = await openStream(gantry.url, 'sensors.onStatusChanged', {
        token: who,
        lastEventId: start,
      });
      const streamed = await eventually(
        async () => stream.messages.filter(({ data }) => data.change?.sensorId === id),
        ({ length }) => length >= 4,
      );
      stream.close();
      const { history } = await gantry.ok('sensors.getStatusHistory', { id }, { token: who });
      const file = await gantry.fetch(`/reports/${await generate(who, 'SENSOR_HEALTH', 'CSV')}/file`, {
        headers: { authorization: `Bearer ${who}` },
      });
      return JSON.stringify([streamed, history, String(file.body)]);
    };
    expect((await seen(admin)).match(/OCR \(stuck at KX 31-WV8\)/g)).toHaveLength(3);
    const shown = await seen(await gantry.tokenFor('OPERATOR'));
    expect(shown).not.toContain('WV8');
    expect(shown.match(/critical issue: •••/g)).toHaveLength(3);
    expect(shown.match(/critical issue: OCR \(lens dirty\)/g)).toHaveLength(3);
  });

  it.each(['MU\u0308 XQ 77', 'Straße 9', 'ﬁ 77-12', 'İst 77', 'A.B*9'])(
    'see no plate as it is written in a text, also where that differs from how it is compared: %s',
    async (licensePlateNumber) => {
      const fields = {
        licensePlateNumber,
        description: `Read ${licensePlateNumber}`,
        tags: [licensePlateNumber],
      };
      const id = await gantry.ingest(await gantry.registerSensor(), fields);
      const token = await gantry.tokenFor('VIEWER');
      expect(await gantry.ok('events.getById', { id }, { token })).toMatchObject({
        licensePlateNumber: '•••',
        description: 'Read •••',
        tags: ['•••'],
      });
    },
  );

  it.each([
    ['no plate', null],
    ['another plate', 'AB 12 CDE'],
    ['a plate that was not read', 'UNKNOWN'],
  ])(
    'see no plate that stands only in texts of a device, for an event with %s',
    async (_, licensePlateNumber) => {
      const plate = `KX 31-WV${String(licensePlateNumber).length}`;
      const id = await gantry.ingest(await gantry.registerSensor(), {
        eventType: 'INCIDENT',
        licensePlateNumber,
        description: `Stopped: ${plate}`,
        tags: [plate],
        violationType: 'STOPPED',
      });
      const { incidents } = await eventually(
        () => gantry.ok('incidents.getAll', { search: plate }, { token: admin }),
        ({ total }) => total === 1,
      );
      const [event, incident] = [{ id }, { id: incidents[0].id }];
      const [whole, token] = [admin, await gantry.tokenFor('OPERATOR')];
      const seen = async (who: string) => {
        const stream = await openStream(gantry.url, 'events.onIngested', { token: who, lastEventId: start });
        const message = await eventually(
          async () => stream.messages.find(({ data }) => data.event?.id === id),
          (found) => found !== undefined,
        );
        stream.close();
        const report = await generate(who, 'EVENTS', 'CSV');
        const headers = { authorization: `Bearer ${who}` };
        const { body: file } = await gantry.fetch(`/reports/${report}/file`, { headers });
        const incidentShown = await gantry.ok('incidents.getById', incident, { token: who });
        expect(incidentShown.events).toMatchObject([{ id }]);
        expect(String(file)).toContain(id);
        return {
          incident: incidentShown,
          event: await gantry.ok('events.getById', event, { token: who }),
          message,
          file: String(file),
        };
      };
      for (const [name, part] of Object.entries(await seen(whole))) {
        expect([name, JSON.stringify(part)]).toEqual([name, expect.stringContaining(plate)]);
      }
      const shown = await seen(token);
      for (const [name, part] of Object.entries(shown)) {
        expect([name, JSON.stringify(part)]).toEqual([name, expect.not.stringContaining(plate)]);
      }
      expect(shown.event).toMatchObject({ description: null, tags: [] });
    },
  );

  it('cannot set a mapping, which could copy plates into other fields', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const { connectionId: id, sensorId } = planted;
    const { options } = await gantry.ok('connections.getById', { id }, { token });
    const copying = { mapping: '{"violation": body.plate}' };
    for (const [path, input] of [
      ['connections.update', { id, options: copying }],
      ['connections.create', { sensorId, format: 'mapped', options: copying }],
    ] as const) {
      expect(await gantry.refusal(path, input, { token })).toMatchObject({ status: 403 });
    }
    const change = { id, options: { ...options, speedUnit: 'mph' } };
    expect(await gantry.ok('connections.update', change, { token })).toMatchObject({
      options: change.options,
    });
  });

  it('cannot search for a plate', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const filters = { licensePlateNumber: 'XQ*' };
    const report = { kind: 'EVENTS', format: 'CSV', startDate: '2026-01-01', endDate: '2026-01-02', filters };
    const schedule = { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 3, filters };
    for (const [path, input] of [
      ['events.getAll', filters],
      ['reports.generate', report],
      ['reports.createSchedule', schedule],
      ['reports.updateSchedule', { id: planted.scheduleId, hour: 5 }],
      ['watchlist.create', { pattern: 'XQ 7*', reason: 'Curious' }],
      ['hotlists.addEntry', { hotlistId: planted.hotlistId, plate: 'XQ 7*', reason: 'Curious' }],
      ['hotlists.getEntries', { hotlistId: planted.hotlistId, plate: 'XQ 77' }],
      ['hotlists.findEntries', { plate: 'XQ 77' }],
      ['watchlist.getAll', { search: 'xq 77' }],
      ['watchlist.getAll', { sortBy: 'pattern' }],
      ['watchlist.update', { id: planted.entryId, pattern: 'XQ 7*' }],
    ] as const) {
      expect([path, await gantry.refusal(path, input, { token })]).toEqual([
        path,
        expect.objectContaining({
          status: 403,
          message:
            'Number plates are hidden from your role OPERATOR: an administrator can change the setting HIDE_PLATES_FROM',
        }),
      ]);
    }
    const stream = await openStream(gantry.url, 'events.onIngested', { token, input: filters });
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'FORBIDDEN' } });
  });

  it('see saved views without the filters that find plates, whatever their names', async () => {
    const views = {
      plates: [`part=plates&search=${encodeURIComponent(PLATE)}&active=1`, 'part=plates&active=1'],
      activity: [`about=${encodeURIComponent(PLATE)}&action=events.`, 'action=events.'],
      sensors: ['search=bridge', 'search=bridge'],
    };
    const searchesFor = async (page: string, token: string) =>
      (await gantry.ok('views.getAll', { page }, { token })).views.map(
        ({ search }: { search: string }) => search,
      );
    const token = await gantry.tokenFor('OPERATOR');
    for (const [page, [search, shown]] of Object.entries(views)) {
      await gantry.ok('views.create', { page, name: 'Shared', search, shared: true }, { token: admin });
      expect([await searchesFor(page, admin), await searchesFor(page, token)]).toEqual([[search], [shown]]);
    }
  });

  it('cannot find an incident by the text of a device', async () => {
    const find = async (search: string, who: string) =>
      (await gantry.ok('incidents.getAll', { search }, { token: who })).total;
    const token = await gantry.tokenFor('OPERATOR');
    await gantry.ok(
      'incidents.create',
      { title: 'Lorry', description: 'Blocks the bridge', type: 'OTHER' },
      { token },
    );
    expect([await find('xq77plt', admin), await find('xq77plt', token)]).toEqual([1, 0]);
    expect([await find('the bridge', token), await find('lorry', token)]).toEqual([1, 1]);
  });

  it('see and find the description of the incident of planned works, which a person wrote', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const description = 'Joints of the viaduct, until noon';
    const works = { title: 'Joints', description, road: 'A2', opensIncident: true };
    const [startsAt, endsAt] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000));
    const { id } = await gantry.ok('works.create', { ...works, startsAt, endsAt }, { token: admin });
    await gantry.ok('works.approve', { id }, { token: admin });
    const { incidents } = await eventually(
      () => gantry.ok('incidents.getAll', { search: 'the viaduct' }, { token: admin }),
      ({ total }) => total === 1,
    );
    const found = await gantry.ok('incidents.getAll', { search: 'the viaduct' }, { token });
    expect(found.incidents).toMatchObject([{ id: incidents[0].id, description }]);
    await gantry.ok('works.cancel', { id, reason: 'Done' }, { token: admin });
  });

  it('see no text of a device in the timeline of an incident', async () => {
    const plate = 'KX 31-WVD';
    await gantry.ingest(await gantry.registerSensor(), {
      eventType: 'INCIDENT',
      description: `Stopped: ${plate}`,
    });
    const { incidents } = await eventually(
      () => gantry.ok('incidents.getAll', { search: plate }, { token: admin }),
      ({ total }) => total === 1,
    );
    const { id } = incidents[0];
    const change = { id, description: 'A lorry has stopped', lanesBlocked: 1 };
    await gantry.ok('incidents.update', change, { token: admin });
    const token = await gantry.tokenFor('OPERATOR');
    const detailsFor = async (who: string) =>
      (await gantry.ok('incidents.getById', { id }, { token: who })).timeline.at(-1).details;
    const whole = await detailsFor(admin);
    expect(whole.description).toEqual({ from: `Stopped: ${plate}`, to: 'A lorry has stopped' });
    expect(await detailsFor(token)).toEqual({ ...whole, description: { from: null, to: null } });
  });

  it('see images of notes but not of devices', async () => {
    const token = await gantry.tokenFor('FIELD');
    const get = (path: string, who: string) =>
      fetch(`${gantry.url}${path}`, { headers: { authorization: `Bearer ${who}` } });
    expect((await get(planted.image, token)).status).toBe(403);
    expect((await get(planted.image, admin)).status).toBe(200);
    expect((await get(planted.noteImage, token)).status).toBe(200);
    const images = [png({ shade: 11 }).toString('base64')];
    const id = await gantry.ingest(planted.apiKey, { licensePlateNumber: PLATE, images });
    const [image] = (await gantry.ok('events.getById', { id }, { token: admin })).images;
    await gantry.ok('events.delete', { id }, { token: admin });
    // Its file stays until retention removes it.
    expect((await get(image, token)).status).toBe(403);
    expect((await get(image, admin)).status).toBe(200);
  });

  it('download only reports without plates, such as their own', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const file = (id: string) =>
      gantry.fetch(`/reports/${id}/file`, { headers: { authorization: `Bearer ${token}` } });
    expect((await file(planted.reportId)).status).toBe(403);
    for (const kind of ['EVENTS', 'VIOLATIONS', 'INCIDENTS']) {
      const own = await file(await generate(token, kind, 'CSV'));
      expect([kind, own.status]).toEqual([kind, 200]);
      expect(String(own.body)).not.toMatch(SPELLINGS);
      if (kind !== 'INCIDENTS') expect(String(own.body)).toContain('•••');
    }
    const whole = await gantry.fetch(`/reports/${planted.reportId}/file`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    expect(String(whole.body)).toMatch(SPELLINGS);
  });

  it('see no plate in the reports of their schedule to which somebody else added one as a filter', async () => {
    const token = await gantry.tokenFor('OPERATOR');
    const schedule = { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 6 };
    const { id } = await gantry.ok('reports.createSchedule', schedule, { token });
    const filters = { licensePlateNumber: 'XQ 77 PLT' };
    await gantry.ok('reports.updateSchedule', { id, filters }, { token: admin });
    await gantry.pool.query("UPDATE report_schedules SET next_run_at = now() - interval '1 minute'");
    const made = await eventually(
      async () => {
        const { reports } = await gantry.ok('reports.getReports', {}, { token: admin });
        return reports.find(({ scheduleId }: { scheduleId: string | null }) => scheduleId === id);
      },
      (report) => report?.status === 'DONE',
      60_000,
    );
    const file = await gantry.fetch(`/reports/${made.id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(file.status).toBe(200);
    expect(String(file.body)).not.toMatch(SPELLINGS);
    await gantry.ok('reports.deleteSchedule', { id }, { token: admin });
  }, 90_000);
});

const LOOKS = `('events.view', 'images.view', 'reports.download', 'events.lookUpPlate')`;
/** How often anybody was recorded to look at plates, and how many entries others have left. */
const recorded = async (): Promise<{ looks: number; others: number }> => {
  await gantry.app.context.looks.flush();
  const { rows } = await gantry.pool.query(`
    SELECT coalesce(sum(coalesce((details ->> 'count')::int, 1)) FILTER (WHERE action IN ${LOOKS}), 0)::int AS looks,
      (count(*) FILTER (WHERE action NOT IN ${LOOKS}))::int AS others FROM activity`);
  return rows[0];
};

describe('users who see plates', () => {
  const paths = Object.keys(mayCall) as ProcedurePath[];
  const isStream = (path: string) => /\.on[A-Z]/.test(path) && path !== 'connections.onMessage';

  it('leave one entry of each answer that shows the plate', async () => {
    const given = inputs();
    const wrong: unknown[] = [];
    const without: string[] = [];
    for (const path of paths.filter((each) => readOnly.test(each) && !/\.on[A-Z]/.test(each))) {
      const before = await recorded();
      const { status, body } = await gantry.call(path, given[path], { token: admin });
      const looks = (await recorded()).looks - before.looks;
      const shows = SPELLINGS.test(JSON.stringify(body));
      if (shows && looks !== 1) wrong.push([path, looks]);
      if (!shows && looks !== 0) without.push(`${path} ${status} ${looks}`);
    }
    // Texts with digits and images, which may show a plate.
    expect([wrong, without]).toEqual([[], []]);
  });

  it('leave one entry of each change whose answer shows the plate: that of the change', async () => {
    const given = inputs();
    const changed: string[] = [];
    for (const path of paths.filter((each) => !readOnly.test(each) && each in given)) {
      const before = await recorded();
      const { status, body } = await gantry.call(path, given[path], { token: admin });
      const after = await recorded();
      if (status !== 200 || !SPELLINGS.test(JSON.stringify(body))) continue;
      changed.push(path);
      expect([path, after.looks - before.looks + after.others - before.others]).toEqual([path, 1]);
    }
    expect(changed).toContain('hits.setOutcome');
  });

  it.each(paths.filter(isStream))('leave one entry of the stream %s if it shows the plate', async (path) => {
    const given: Partial<Record<string, object>> = inputs();
    const before = await recorded();
    const stream = await openStream(gantry.url, path, {
      token: admin,
      lastEventId: start,
      input: given[path] ?? {},
    });
    await eventually(
      async () => stream.messages,
      (messages) => messages.some(({ data }) => data.type === 'upToDate'),
    );
    stream.close();
    const shows = stream.messages.some(({ data }) => SPELLINGS.test(JSON.stringify(data)));
    const looks = (await recorded()).looks - before.looks;
    if (shows || looks > 0) expect([path, shows, looks]).toEqual([path, expect.anything(), 1]);
    if (/^(?:live|events|hits|watchlist|alarms)/.test(path)) expect([path, shows]).toEqual([path, true]);
  });

  it('leave one entry of the stream of messages of a device, which cannot be resumed', async () => {
    const { connectionId } = planted;
    const stream = await openStream(gantry.url, 'connections.onMessage', {
      token: admin,
      input: { connectionId },
    });
    const before = await recorded();
    await eventually(
      async () => {
        await gantry.fetch(`${planted.devicePath}/XQ77PLT?plate=XQ77PLT`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ plate: PLATE }),
        });
        return stream.messages.some(({ data }) => SPELLINGS.test(JSON.stringify(data)));
      },
      (hasCome) => hasCome,
    );
    stream.close();
    expect((await recorded()).looks - before.looks).toBe(1);
  });

  it('leave one entry of each image and each file', async () => {
    for (const path of [planted.image, `/reports/${planted.reportId}/file`]) {
      const before = await recorded();
      const { status } = await gantry.fetch(path, { headers: { authorization: `Bearer ${admin}` } });
      const after = await recorded();
      expect([path, status, after.looks - before.looks, after.others - before.others]).toEqual([
        path,
        200,
        1,
        0,
      ]);
    }
  });
});
