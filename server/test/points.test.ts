import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

// Measuring points and dated assignments, as they are entered. What they count: assigned-traffic.test.ts.

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const ask = (procedure: string, input: object = {}) => gantry.ok(procedure, input, { token });
const refused = async (procedure: string, input: object) => {
  const { status, message, data } = await gantry.refusal(procedure, input, { token });
  return { status, message, path: data.issues?.[0]?.path };
};

const addLocation = async (): Promise<string> => (await ask('locations.create', { name: 'Ring 1' })).id;
const addPoint = (locationId: string, more: object = {}) =>
  ask('points.create', { locationId, name: 'North', direction: 'NB', lanes: 2, ...more });
const addSensor = async (name = 'Radar'): Promise<string> =>
  (await ask('sensors.create', { name, deviceId: randomUUID(), type: 'RADAR' })).id;
const assign = (sensorId: string, pointId: string, more: object = {}) =>
  ask('assignments.create', { sensorId, pointId, ...more });

describe('measuring points', () => {
  it('are entered, changed, ended and deleted, and listed by name', async () => {
    const locationId = await addLocation();
    const point = await addPoint(locationId, {
      bearing: 359,
      facility: 'HOV',
      roadClass: 'A',
      setting: 'URBAN',
      validFrom: '2026-01-01T12:00:00Z',
    });
    expect(point).toMatchObject({
      locationId,
      direction: 'NB',
      bearing: 359,
      lanes: 2,
      facility: 'HOV',
      validFrom: '2026-01-01T12:00:00.000Z',
      validUntil: null,
    });
    const plain = await ask('points.create', { locationId, name: 'A' });
    expect(plain).toMatchObject({
      direction: 'BOTH',
      facility: 'MAINLINE',
      bearing: null,
      lanes: null,
      roadClass: null,
      setting: null,
      validFrom: null,
    });
    const ended = await ask('points.update', { id: point.id, validUntil: '2026-02-01', bearing: null });
    expect(ended).toEqual({
      ...point,
      bearing: null,
      validUntil: '2026-02-01T00:00:00.000Z',
      updatedAt: ended.updatedAt,
    });
    const listed = (...points: object[]) => points.map((each) => ({ ...each, locationName: 'Ring 1' }));
    expect(await ask('points.list', { locationId })).toEqual({
      points: listed(plain, ended),
      total: 2,
      pageCount: 1,
    });
    const found = async (input: object) => (await ask('points.list', input)).points;
    expect(await found({ pointId: point.id })).toEqual(listed(ended));
    expect(await found({ search: 'NORT', locationId })).toEqual(listed(ended));
    expect(await found({ search: 'ring', locationId })).toEqual(listed(plain, ended));
    expect(await found({ search: 'no such', locationId })).toEqual([]);
    expect(await found({ pointId: locationId })).toEqual([]);
    const without = await addLocation();
    expect(await found({ pointId: without })).toMatchObject([{ id: without, locationName: 'Ring 1' }]);
    const inMarch = await ask('points.list', { locationId, at: '2026-03-01' });
    expect(inMarch.points).toEqual(listed(plain));
    expect(await ask('points.delete', { id: point.id })).toEqual({ success: true, id: point.id });
    expect(await found({ locationId })).toEqual(listed(plain));
    const { activities } = await gantry.ok(
      'users.getActivityLog',
      { action: 'points.' },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(activities.slice(0, 4).map(({ action }: { action: string }) => action)).toEqual([
      'points.delete',
      'points.update',
      'points.create',
      'points.create',
    ]);
    expect(activities[1].details).toMatchObject({ pointId: point.id, fields: ['bearing', 'validUntil'] });
  });

  it('are one for a location for which none is entered: both directions', async () => {
    const locationId = await addLocation();
    const { points, total } = await ask('points.list', { locationId });
    expect(total).toBe(1);
    expect(points).toMatchObject([
      {
        id: locationId,
        locationId,
        name: 'Ring 1',
        direction: 'BOTH',
        facility: 'MAINLINE',
        validFrom: null,
      },
    ]);
    expect(await ask('points.list', { locationId: randomUUID() })).toMatchObject({ points: [], total: 0 });
    const { path } = await refused('assignments.create', {
      sensorId: await addSensor(),
      pointId: locationId,
    });
    expect(path).toBe('pointId');
  });

  it.each([
    ['bearing', { bearing: 360 }, /to 359/],
    ['bearing', { bearing: -1 }, /to 359/],
    ['bearing', { bearing: 90.5 }, /whole degrees/],
    ['bearing', { bearing: 180 }, /A bearing of 180° is not NB/],
    ['lanes', { lanes: 0 }, /from 1 to 12/],
    ['lanes', { lanes: 13 }, /from 1 to 12/],
    ['direction', { direction: 'NORTH' }, /Use NB, NE/],
    ['facility', { facility: 'ROAD' }, /MAINLINE/],
    ['name', { name: ' ' }, /empty/],
    ['locationId', { locationId: randomUUID() }, /No location has this locationId/],
    ['locationId', { locationId: 'x' }, /No location has this locationId/],
    ['validUntil', { validFrom: '2026-02-01', validUntil: '2026-02-01' }, /not after validFrom/],
    ['validFrom', { validFrom: 'yesterday' }, /ISO 8601/],
  ])('are refused for a bad %s: %j', async (field, more, words) => {
    const answer = await refused('points.create', {
      locationId: await addLocation(),
      name: 'North',
      direction: 'NB',
      ...more,
    });
    expect(answer).toMatchObject({ status: 400, path: field, message: expect.stringMatching(words) });
  });

  it('are at most 100 for a location', async () => {
    const locationId = await addLocation();
    await gantry.pool.query(
      `INSERT INTO measuring_points (location_id, name, direction, facility)
       SELECT $1, n, 'BOTH', 'LEG' FROM generate_series(1, 99) AS n`,
      [locationId],
    );
    await addPoint(locationId);
    expect(await refused('points.create', { locationId, name: 'One more' })).toMatchObject({
      status: 400,
      message: expect.stringContaining('100 measuring points already'),
    });
  });

  it('go with their location, and only users who manage sensors may enter them', async () => {
    const locationId = await addLocation();
    const point = await addPoint(locationId);
    await assign(await addSensor(), point.id);
    const analyst = { token: await gantry.tokenFor('ANALYST') };
    const { status } = await gantry.call('points.update', { id: point.id, lanes: 1 }, analyst);
    expect(status).toBe(403);
    await ask('locations.delete', { id: locationId });
    expect((await refused('points.update', { id: point.id, lanes: 1 })).status).toBe(404);
    expect(await ask('assignments.list', { pointId: point.id })).toMatchObject({ total: 0 });
  });
});

describe('assignments', () => {
  it('are entered, changed, ended and deleted, for the past as well', async () => {
    const [locationId, sensorId] = [await addLocation(), await addSensor()];
    const point = await addPoint(locationId);
    const made = await assign(sensorId, point.id, {
      channel: { direction: 'APPROACHING', lane: '2' },
      lane: 2,
      movement: { from: 'S', turn: 'L' },
      countedTypes: ['SPEED_DETECTION'],
      correctionAngle: 20,
      speedUnit: 'MPH',
      validFrom: '2025-05-01',
    });
    expect(made).toMatchObject({
      sensorId,
      pointId: point.id,
      locationId,
      role: 'COUNT',
      channel: { direction: 'APPROACHING', lane: 2 },
      lane: 2,
      movement: { from: 'S', turn: 'L' },
      countedTypes: ['SPEED_DETECTION'],
      correctionAngle: 20,
      speedUnit: 'MPH',
      validFrom: '2025-05-01T00:00:00.000Z',
      validUntil: null,
    });
    const changes = { channel: 2, movement: null, countedTypes: null, validUntil: '2025-06-01T08:30:00Z' };
    const changed = await ask('assignments.update', { id: made.id, ...changes });
    expect(changed).toMatchObject({
      ...changes,
      channel: '2',
      validUntil: '2025-06-01T08:30:00.000Z',
      lane: 2,
    });
    for (const wanted of [
      { pointId: point.id },
      { sensorId },
      { locationId },
      { locationId, at: '2025-06-01' },
    ])
      expect((await ask('assignments.list', wanted)).assignments).toEqual([changed]);
    expect((await ask('assignments.list', { sensorId, at: '2025-06-02' })).total).toBe(0);
    expect(await ask('assignments.delete', { id: made.id })).toEqual({ success: true, id: made.id });
    expect((await refused('assignments.update', { id: made.id, lane: 1 })).status).toBe(404);
    const { activities } = await gantry.ok(
      'users.getActivityLog',
      { action: 'assignments.', about: made.id },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(activities.map(({ action }: { action: string }) => action)).toEqual([
      'assignments.delete',
      'assignments.update',
      'assignments.create',
    ]);
  });

  it('have everything as their channel, and count, unless they say otherwise', async () => {
    const point = await addPoint(await addLocation());
    expect(await assign(await addSensor(), point.id)).toMatchObject({
      channel: '*',
      role: 'COUNT',
      lane: null,
      movement: null,
      countedTypes: null,
      correctionAngle: 0,
      speedUnit: null,
      validFrom: null,
    });
  });

  it.each([
    ['sensorId', { sensorId: randomUUID() }, /No sensor has this sensorId/],
    ['pointId', { pointId: randomUUID() }, /No measuring point has this pointId/],
    ['pointId', { pointId: 'x' }, /No measuring point has this pointId/],
    ['validUntil', { validFrom: '2026-02-02', validUntil: '2026-02-01' }, /not after validFrom/],
    ['validFrom', { validFrom: '2027-01-01' }, /The point is valid until 2026-07-01/],
    ['channel', { channel: 'SB' }, /The point is NB, so vehicles of the direction SB do not pass it/],
    ['channel', { channel: { direction: 200 } }, /The point is NB/],
    ['channel', { channel: {} }, /Use \*/],
    ['channel', { channel: '' }, /empty/],
    ['lane', { lane: 3 }, /The point has 2 lanes/],
    ['movement', { movement: { from: 'N', turn: 'X' } }, /Use L, T, R, U/],
    ['countedTypes', { countedTypes: [] }, /at least one/],
    ['countedTypes', { countedTypes: ['INCIDENT'] }, /no passage/],
    ['countedTypes', { countedTypes: ['PLATE_RECOGNITION', 'PLATE_RECOGNITION'] }, /once/],
    ['correctionAngle', { correctionAngle: 90 }, /from 0 to 80/],
    ['role', { role: 'COUNTS' }, /COUNT/],
    ['speedUnit', { speedUnit: 'KNOTS' }, /KMH/],
  ])('are refused for a bad %s: %j', async (field, more, words) => {
    const point = await addPoint(await addLocation(), { validUntil: '2026-07-01' });
    const input = { sensorId: await addSensor(), pointId: point.id, ...more };
    const answer = await refused('assignments.create', input);
    expect(answer.status).toBe(400);
    expect(answer.path.split('.')[0]).toBe(field);
    expect(answer.message).toMatch(words);
    expect((await ask('assignments.list', { pointId: point.id })).total).toBe(0);
  });

  it('count a point, lane and movement once at a time', async () => {
    const point = await addPoint(await addLocation());
    const [one, other] = [await addSensor('Radar 1'), await addSensor('Radar 2')];
    const first = await assign(one, point.id, { lane: 1, validUntil: '2026-03-01' });
    const second = { sensorId: other, pointId: point.id };
    for (const same of [{}, { lane: 1 }, { lane: 1, movement: { from: 'S', turn: 'L' } }]) {
      const answer = await refused('assignments.create', { ...second, ...same, validFrom: '2026-02-28' });
      expect(answer).toMatchObject({ status: 400, path: 'pointId' });
      expect(answer.message).toContain(
        `Radar 1 already counts this point, lane and movement (assignment ${first.id}`,
      );
    }
    await assign(other, point.id, { lane: 2 });
    await assign(await addSensor(), point.id, { role: 'VERIFY' });
    await assign(await addSensor(), point.id, { role: 'SPEED' });
    expect((await refused('assignments.create', { ...second, role: 'SPEED' })).path).toBe('pointId');
    const after = await assign(await addSensor(), point.id, { lane: 1, validFrom: '2026-03-01' });
    expect((await refused('assignments.update', { id: first.id, validUntil: null })).path).toBe('pointId');
    expect(
      (await refused('assignments.update', { id: after.id, validFrom: '2026-02-28T23:59:59Z' })).path,
    ).toBe('pointId');
    await ask('assignments.update', { id: after.id, role: 'VERIFY', validFrom: null });
  });

  it('count one channel of a sensor for one point at a time', async () => {
    const locationId = await addLocation();
    const [north, south] = [await addPoint(locationId), await addPoint(locationId, { direction: 'SB' })];
    const sensorId = await addSensor();
    await assign(sensorId, north.id, { channel: 'APPROACHING' });
    const twice = await refused('assignments.create', {
      sensorId,
      pointId: south.id,
      channel: 'APPROACHING',
    });
    expect(twice).toMatchObject({ status: 400, path: 'channel' });
    expect(twice.message).toContain('This channel of the sensor already counts another point');
    await assign(sensorId, south.id, { channel: 'RECEDING' });
  });

  it('are not entered twice by two users at the same time', async () => {
    const point = await addPoint(await addLocation());
    const sensors = [await addSensor(), await addSensor(), await addSensor()];
    const answers = await Promise.all(
      sensors.map((sensorId) =>
        gantry.call('assignments.create', { sensorId, pointId: point.id }, { token }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  it('keep a point from changing into what they are not', async () => {
    const point = await addPoint(await addLocation());
    const { id } = await assign(await addSensor(), point.id, { channel: 'NB', lane: 2 });
    expect(await refused('points.update', { id: point.id, direction: 'SB' })).toMatchObject({
      path: 'direction',
    });
    expect(await refused('points.update', { id: point.id, lanes: 1 })).toMatchObject({ path: 'lanes' });
    await ask('assignments.delete', { id });
    expect(await ask('points.update', { id: point.id, direction: 'SB', lanes: 1 })).toMatchObject({
      lanes: 1,
    });
  });

  it('end when their sensor is deleted; later ones are removed', async () => {
    const point = await addPoint(await addLocation());
    const sensorId = await addSensor();
    const { id } = await assign(sensorId, point.id, { validUntil: '2090-01-01' });
    await assign(sensorId, point.id, { validFrom: '2090-01-01' });
    await ask('sensors.delete', { id: sensorId });
    const { assignments } = await ask('assignments.list', { pointId: point.id });
    expect(assignments).toMatchObject([{ id, validFrom: null }]);
    expect(Date.parse(assignments[0].validUntil)).toBeLessThanOrEqual(Date.now() + 60_000);
    const answer = await refused('assignments.create', { sensorId, pointId: point.id });
    expect(answer).toMatchObject({ status: 400, path: 'sensorId' });
  });

  it('are found in the REST form', async () => {
    const locationId = await addLocation();
    const rest = (method: string, path: string, body?: object) =>
      fetch(`${gantry.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const made = await rest('POST', '/v1/points', { locationId, name: 'North', direction: 'NB' });
    expect(made.status).toBe(201);
    const { id: pointId } = (await made.json()) as { id: string };
    const assigned = await rest('POST', '/v1/assignments', { sensorId: await addSensor(), pointId });
    expect(assigned.status).toBe(201);
    const { id } = (await assigned.json()) as { id: string };
    expect(await (await rest('GET', `/v1/assignments?pointId=${pointId}`)).json()).toMatchObject({
      total: 1,
    });
    expect((await rest('PATCH', `/v1/assignments/${id}`, { lane: 1 })).status).toBe(200);
    expect((await rest('DELETE', `/v1/assignments/${id}`)).status).toBe(204);
    expect((await rest('PATCH', `/v1/points/${pointId}`, { validUntil: '2090-01-01' })).status).toBe(200);
    expect((await rest('DELETE', `/v1/points/${pointId}`)).status).toBe(204);
    expect(await (await rest('GET', `/v1/points?locationId=${locationId}`)).json()).toMatchObject({
      points: [{ id: locationId, direction: 'BOTH' }],
    });
  });
});
