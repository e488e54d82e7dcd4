import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { locationNameTable, severityTables } from '../scripts/generate/event-tables.ts';
import { severityOf } from '../src/events/severity.ts';
import { locationNameOf } from '../src/ingest/enrich.ts';
import { inputFailure } from '../src/rpc/errors.ts';
import { ADMIN, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

describe('the refusal of an input describes a valid one', () => {
  it.each([
    ['sensors.getAll', { take: 1000 }, 'take must be at most 100'],
    ['sensors.getAll', { take: 0 }, 'take must be at least 1'],
    ['sensors.getAll', { take: 1.5 }, 'take must be a whole number'],
    ['sensors.getAll', { take: '5' }, 'take must be a number'],
    ['sensors.getAll', 'everything', 'Send an object as input'],
    ['sensors.getAll', [1], 'Send an object as input'],
    ['sensors.getAll', { sortOrder: 'up' }, 'sortOrder must be one of asc, desc'],
    ['sensors.create', undefined, 'Send an object as input'],
    ['sensors.create', { deviceId: 'd-1', type: 'CAMERA' }, 'name must be given (text)'],
    ['sensors.create', { name: 'Mast 1', deviceId: 'd-1' }, 'type must be given (one of CAMERA, RADAR,'],
    ['sensors.create', { name: 'ab', deviceId: 'd-1', type: 'CAMERA' }, 'name: Use at least 3 characters'],
    ['events.getAll', { processed: 'yes' }, 'processed must be true or false'],
    ['events.ingest', { apiKey: 'KEY', eventType: 'INCIDENT', tags: 'a' }, 'tags must be a list'],
    ['events.ingest', { apiKey: 'KEY', eventType: 'INCIDENT', location: 5 }, 'location must be an object'],
    ['webhooks.create', { url: 'http://127.0.0.1:9/', kinds: [] }, 'kinds: Name at least one kind'],
    ['storage.setHold', { eventIds: ['x'], reason: ' ' }, 'reason must not be empty'],
  ])('%s %j', async (procedure, input, sentence) => {
    const apiKey = await gantry.registerSensor();
    const sent = JSON.parse(JSON.stringify(input ?? null).replace('KEY', apiKey)) ?? undefined;
    const { status, body } = await gantry.call(procedure, sent, { token });
    expect(status).toBe(400);
    expect(body.error.json.message).toContain(`Invalid input: ${sentence}`);
    expect(body.error.json.data.issues[0].message).not.toMatch(/expected|received|Invalid|Too (big|small)/);
  });

  it.each([
    ['name', 'x'.repeat(1000), 'Use at most 50 characters'],
    ['eventsPerMin', 1e20, 'Must be at most 1000000'],
    ['eventsPerMin', -1e20, 'Must be at least 1'],
  ])('a limit of %s that is far exceeded is named once', async (path, value, message) => {
    const input = { name: 'Mast 1', deviceId: 'far-1', type: 'CAMERA', [path]: value };
    const { body } = await gantry.call('sensors.create', input, { token });
    expect(body.error.json.data.issues).toEqual([{ path, message }]);
    expect(body.error.json.message).not.toContain('more)');
  });

  it.each([
    [
      z.strictObject({ a: z.string() }),
      { a: '', [`k${'x'.repeat(500)}`]: 1 },
      /^Leave out what is not known here: "kx{49}"$/,
    ],
    [z.union([z.string(), z.number()]), true, /^Must be text or a number$/],
    [z.union([z.enum(['A', 'B']), z.array(z.string())]), 5, /^Must be one of A, B or a list$/],
    [
      z.discriminatedUnion('kind', [z.object({ kind: z.literal('A') }), z.object({ kind: z.literal('B') })]),
      { kind: 'C' },
      /as "kind"|one of A, B/,
    ],
    [z.number().multipleOf(5), 3, /^Must be a multiple of 5$/],
    [z.number().gt(5), 3, /^Must be more than 5$/],
    [z.array(z.string()).max(1), ['a', 'b'], /^Must have at most 1 items$/],
    [z.string().min(4), 'abc', /^Use at least 4 characters$/],
    [z.literal('A'), 'B', /^Must be A$/],
    [z.email(), 'x', /^Must be an e-mail address$/],
    [z.string().regex(/^a$/), 'x', /^Must have the documented form$/],
    [z.string().startsWith('ab'), 'x', /^Must begin with "ab"$/],
    [z.record(z.enum(['A']), z.number()), { B: 1 }, /./],
    [z.string().refine(() => false), 'x', /^Is not accepted/],
    [z.number(), Number.NaN, /^Must be a number$/],
    [z.date(), 'x', /^Must be a date$/],
    [z.bigint(), 'x', /^Must be a whole number$/],
    [z.null(), 'x', /^Must be null$/],
    [z.never(), 'x', /^Must be never$|left out/],
  ])('every kind of issue has a message of its own: %#', (schema, value, message) => {
    const { error } = schema.safeParse(value);
    if (!error) throw new Error('It was accepted');
    const [issue] = inputFailure(error).issues ?? [];
    expect(issue?.message).toMatch(message);
    expect(issue?.message).not.toMatch(/expected|received|Invalid|Too (big|small)|Unrecognized/);
  });
});

describe('an administrator', () => {
  const user = () => ({
    email: `${randomUUID()}@example.org`,
    password: ADMIN.password,
    firstName: 'A',
    lastName: 'B',
  });

  it('can create ninety users at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 90 }, () => gantry.call('users.create', user(), { token })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 90 }, () => 200));
  });

  it('does not delay other logins meanwhile', async () => {
    const creating = Promise.all(
      Array.from({ length: 90 }, () => gantry.call('users.create', user(), { token })),
    );
    const login = { email: ADMIN.email, password: ADMIN.password };
    expect((await gantry.call('auth.login', login)).status).toBe(200);
    await creating;
  });

  it('receives a clear message when far too many passwords are set at once', async () => {
    const { passwords } = gantry.app.context;
    const ninety = await Promise.all(Array.from({ length: 90 }, () => passwords.hash('x')));
    expect(ninety).toHaveLength(90);
    const hashes = await Promise.allSettled(Array.from({ length: 300 }, () => passwords.hash('x')));
    const refused = hashes.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused)).toEqual(
      new Set(['Too many passwords are being set at the same time: try again in a moment']),
    );
  });
});

describe('the tables of the API document', () => {
  it('contain the rules of severity', () => {
    const tables = severityTables();
    const nothing = { eventType: 'SPEED_DETECTION', violationType: null, speedLimit: 50 } as const;
    for (const [vehicleSpeed, row] of [
      [60, 'up to 10'],
      [70, 'up to 20'],
      [90, 'up to 40'],
      [91, 'more than 40'],
    ] as const) {
      expect(tables).toMatch(new RegExp(`${row} \\| ${severityOf({ ...nothing, vehicleSpeed })} \\|`));
    }
    for (const violationType of ['WRONG_WAY', 'RED_LIGHT', 'LANE_VIOLATION']) {
      const severity = severityOf({ ...nothing, violationType, vehicleSpeed: null });
      expect(tables).toContain(`| ${violationType} | ${severity} |`);
    }
  });

  it('contain the sources of the name of a place, in order', () => {
    const sensor = { locationName: 'Location', address: 'Sensor' };
    expect(locationNameOf({ location: { address: 'Event' } }, sensor)).toBe('Event');
    expect(locationNameOf({ location: {} }, sensor)).toBe('Location');
    expect(locationNameOf({ location: null }, { ...sensor, locationName: null })).toBe('Sensor');
    expect(locationNameOf({ location: null }, { locationName: null, address: null })).toBeNull();
    expect(locationNameTable().indexOf('of the event')).toBeLessThan(locationNameTable().indexOf('Location'));
  });
});
