import { randomUUID } from 'node:crypto';
import { incidentStatus, listIncidentsInput } from '@gantry/contract/incidents';
import { drizzle } from 'drizzle-orm/node-postgres';
import { describe, expect, it } from 'vitest';
import { listIncidents } from '../src/incidents/list-store.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const operator: string = (await gantry.ok('auth.me', undefined, { token })).id;

const list = async (input: object, own = token) => gantry.ok('incidents.getAll', input, { token: own });
const titles = async (input: object): Promise<string[]> =>
  (await list(input)).incidents.map(({ title }: { title: string }) => title);
const ids = async (input: object): Promise<string[]> =>
  (await list(input)).incidents.map(({ id }: { id: string }) => id);

/** Inserts incidents as given, all with a mark in their description, and returns the mark. */
const stored = async (rows: readonly Record<string, unknown>[]): Promise<string> => {
  const mark = randomUUID();
  for (const row of rows) {
    const fields = { type: 'OTHER', severity: 2, description: `of ${mark}`, ...row };
    const names = Object.keys(fields);
    await gantry.pool.query(
      `INSERT INTO incidents (${names.join(', ')}) VALUES (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
      Object.values(fields),
    );
  }
  return mark;
};

describe('incidents.getAll', () => {
  it('sorts by opening, latest first, by default', async () => {
    const search = await stored([
      { title: 'a', opened_at: '2026-01-02', updated_at: '2026-02-01', severity: 4, status: 'CLOSED' },
      { title: 'b', opened_at: '2026-01-03', updated_at: '2026-02-03', severity: 1, status: 'OPEN' },
      { title: 'c', opened_at: '2026-01-01', updated_at: '2026-02-02', severity: 3, status: 'IN_PROGRESS' },
    ]);
    expect(await titles({ search })).toEqual(['b', 'a', 'c']);
    expect(await titles({ search, sortOrder: 'asc' })).toEqual(['c', 'a', 'b']);
    expect(await titles({ search, sortBy: 'updatedAt' })).toEqual(['b', 'c', 'a']);
    expect(await titles({ search, sortBy: 'updatedAt', sortOrder: 'asc' })).toEqual(['a', 'c', 'b']);
    expect(await titles({ search, sortBy: 'severity' })).toEqual(['a', 'c', 'b']);
    expect(await titles({ search, sortBy: 'severity', sortOrder: 'asc' })).toEqual(['b', 'c', 'a']);
  });

  it('sorts by priority: by severity, then what nobody has acknowledged, then the oldest', async () => {
    const of = (title: string, severity: number, day: number, status = 'OPEN') => ({
      title,
      severity,
      status,
      opened_at: `2026-01-0${day}`,
    });
    const search = await stored([
      of('taken', 4, 1, 'ACKNOWLEDGED'),
      of('under way', 4, 2, 'IN_PROGRESS'),
      of('new', 4, 4),
      of('waiting', 4, 3),
      of('high', 3, 1),
      of('low', 1, 1),
    ]);
    const order = ['waiting', 'new', 'taken', 'under way', 'high', 'low'];
    expect(await titles({ search, sortBy: 'priority' })).toEqual(order);
    expect(await titles({ search, sortBy: 'priority', sortOrder: 'asc' })).toEqual(order.reverse());
    expect(await titles({ search, sortBy: 'priority', severity: ['HIGH', 'LOW'] })).toEqual(['high', 'low']);
    expect(await titles({ search, severity: 'LOW' })).toEqual(['low']);
  });

  it("sorts by status in the order of an incident's life", async () => {
    const search = await stored(
      [...incidentStatus.options].reverse().map((status) => ({ title: status, status })),
    );
    expect(await titles({ search, sortBy: 'status', sortOrder: 'asc' })).toEqual(incidentStatus.options);
    expect(await titles({ search, sortBy: 'status' })).toEqual([...incidentStatus.options].reverse());
  });

  it.each(['openedAt', 'updatedAt', 'severity', 'status'])(
    'breaks ties of %s by id in the same direction, from page to page',
    async (sortBy) => {
      const same = { title: 'Twin', opened_at: '2026-01-01', updated_at: '2026-01-01' };
      const search = await stored(Array.from({ length: 7 }, () => same));
      const ascending = await ids({ search, sortBy, sortOrder: 'asc' });
      expect(ascending).toEqual([...ascending].sort());
      expect(await ids({ search, sortBy, sortOrder: 'desc' })).toEqual([...ascending].reverse());
      const pages = [0, 3, 6].map((skip) => ids({ search, sortBy, sortOrder: 'asc', skip, take: 3 }));
      expect((await Promise.all(pages)).flat()).toEqual(ascending);
    },
  );

  it('pages and counts', async () => {
    const search = await stored(Array.from({ length: 5 }, (_, n) => ({ title: `Page ${n}` })));
    const page = await list({ search, take: 2, skip: 4 });
    expect(Object.keys(page).sort()).toEqual(['incidents', 'pageCount', 'total']);
    expect(page).toMatchObject({ total: 5, pageCount: 3 });
    expect(page.incidents).toHaveLength(1);
    expect(await list({ search, skip: 50 })).toEqual({ incidents: [], total: 5, pageCount: 1 });
  });

  it('returns each incident as getById does', async () => {
    const input = { title: 'Shown', type: 'WEATHER', severity: 'CRITICAL', assignedTo: operator };
    const made = await gantry.ok('incidents.create', input, { token });
    expect((await list({ search: 'Shown' })).incidents).toEqual([made]);
  });

  it('filters by each field', async () => {
    const [sensorId, locationId, somebody] = [randomUUID(), randomUUID(), randomUUID()];
    const search = await stored([
      { title: 'plain' },
      { title: 'collision', type: 'COLLISION' },
      { title: 'critical', severity: 4 },
      { title: 'of sensor', sensor_id: sensorId },
      { title: 'of place', location_id: locationId },
      { title: 'closed', status: 'CLOSED' },
      { title: 'resolved', status: 'RESOLVED' },
      { title: 'mine', assigned_to: operator },
      { title: 'theirs', assigned_to: somebody },
    ]);
    const found = async (filter: object) => (await titles({ search, ...filter })).sort();
    expect(await found({ type: 'COLLISION' })).toEqual(['collision']);
    expect(await found({ severity: 'CRITICAL' })).toEqual(['critical']);
    expect(await found({ sensorId })).toEqual(['of sensor']);
    expect(await found({ sensorId: sensorId.toUpperCase() })).toEqual(['of sensor']);
    expect(await found({ locationId })).toEqual(['of place']);
    expect(await found({ status: 'CLOSED' })).toEqual(['closed']);
    expect(await found({ status: ['CLOSED', 'RESOLVED'] })).toEqual(['closed', 'resolved']);
    expect(await found({ status: ['OPEN'] })).toHaveLength(7);
    expect(await found({ assignedTo: 'me' })).toEqual(['mine']);
    expect(await found({ assignedTo: somebody })).toEqual(['theirs']);
    expect(await found({ assignedTo: 'nobody' })).toHaveLength(7);
    expect(await found({ assignedTo: 'me', status: 'CLOSED' })).toEqual([]);
    expect((await list({ search, assignedTo: 'me' }, await gantry.tokenFor('FIELD'))).total).toBe(0);
    for (const filter of [{ sensorId: 'x' }, { locationId: '\u0000' }, { assignedTo: randomUUID() }])
      expect(await list({ search, ...filter })).toEqual({ incidents: [], total: 0, pageCount: 0 });
  });

  it('accepts a range of opening, both ends included, with days in the time zone of the service', async () => {
    const search = await stored(
      ['2026-03-01T00:00:00Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00Z'].map((opened) => ({
        title: opened,
        opened_at: opened,
      })),
    );
    const total = async (range: object) => (await list({ search, ...range })).total;
    expect(await total({ startDate: '2026-03-01', endDate: '2026-03-01' })).toBe(2);
    expect(await total({ startDate: '2026-03-01T23:59:59.999Z' })).toBe(2);
    expect(await total({ endDate: '2026-03-01T00:00:00Z' })).toBe(1);
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const setZone = (timezone: string) =>
      gantry.ok('system.timezone.updateTimezoneSettings', { timezone }, admin);
    await setZone('America/New_York');
    expect(await total({ startDate: '2026-03-01', endDate: '2026-03-01' })).toBe(2);
    expect(await total({ startDate: '2026-02-28', endDate: '2026-02-28' })).toBe(1);
    await setZone('UTC');
  });

  it('treats % _ and \\ in a search literally and ignores case', async () => {
    const mark = randomUUID();
    await stored([
      { title: `100% ${mark}`, description: null },
      { title: `under_score ${mark}` },
      { title: 'No mark', description: `C:\\Straße ${mark}` },
    ]);
    const total = async (search: string) => (await list({ search })).total;
    expect(await total(mark.toUpperCase())).toBe(3);
    expect(await total(`% ${mark}`)).toBe(1);
    expect(await total(`_ ${mark}`)).toBe(0);
    expect(await total('R_S')).toBe(1);
    expect(await total('c:\\STR')).toBe(1);
    expect(await total('\\\\')).toBe(0);
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { skip: -1 },
    { skip: 2_147_483_648 },
    { sortBy: 'title' },
    { sortOrder: 'up' },
    { status: 'GONE' },
    { status: [] },
    { status: ['OPEN', 'GONE'] },
    { status: ['OPEN', 'OPEN', 'OPEN', 'OPEN', 'OPEN', 'OPEN'] },
    { type: 'open' },
    { severity: 'WORST' },
    { assignedTo: '' },
    { sensorId: '' },
    { startDate: 'yesterday' },
    { endDate: '2026-02-30' },
    { search: 's'.repeat(201) },
    { search: '\u0000' },
  ])('refuses %j', async (input) => {
    const { status, body } = await gantry.call('incidents.getAll', input, { token });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path.split('.')[0]).toBe(Object.keys(input)[0]);
  });

  it('finds the latest of one status, or of all, by an index', async () => {
    await gantry.pool.query(
      `INSERT INTO incidents (title, type, severity, status, opened_at)
       SELECT 'Bulk', 'OTHER', 2, (ARRAY['OPEN', 'CLOSED'])[1 + (n % 50 > 0)::int], now() - n * interval '1 minute'
       FROM generate_series(1, 20000) AS n`,
    );
    await gantry.pool.query('ANALYZE incidents');
    const sent: { text: string; values: unknown[] }[] = [];
    const logQuery = (text: string, values: unknown[]) => sent.push({ text, values });
    const db = drizzle({ client: gantry.pool, logger: { logQuery } });
    const planOf = async (input: object): Promise<string> => {
      sent.length = 0;
      const endless = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
      await listIncidents(db, listIncidentsInput.parse(input), endless, { id: operator, seesPlates: true });
      const [page] = sent;
      const { rows } = await gantry.pool.query(`EXPLAIN ${page?.text}`, page?.values);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    expect(await planOf({})).toMatch(/Scan Backward using incidents_by_opening/);
    expect(await planOf({ sortOrder: 'asc' })).toMatch(/Scan using incidents_by_opening/);
    expect(await planOf({ status: 'OPEN' })).toMatch(/Scan Backward using incidents_by_status/);
    expect(await planOf({ sensorId: operator })).toMatch(/incidents_of_sensor/);
    expect(await planOf({ assignedTo: 'me' })).toMatch(/incidents_of_assignee/);
  });
});
