import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';
import { addContact, announceTo } from './notices.ts';

const DAY = 86_400_000;

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
await gantry.tokenFor('OPERATOR');
const { users } = await gantry.ok('users.getAll', {}, { token });
const idOf = (role: string): string => users.find((user: { role: string }) => user.role === role).id;
const [admin, operator] = [idOf('ADMIN'), idOf('OPERATOR')];
const ok = (procedure: string, input?: unknown) => gantry.ok(procedure, input, { token });
const today = new Date().toISOString().slice(0, 10);
const always = { start: '2026-01-01', days: 7, members: [admin] };

describe('a rota', () => {
  it('is saved with warnings, changed, and says who is on duty', async () => {
    const workdays = { ...always, hours: { from: '08:00', until: '17:00', weekdays: [5, 1, 2, 3, 4] } };
    const input = { timezone: 'Europe/Istanbul', layers: [workdays] };
    const preview = await ok('rotas.getPreview', { ...input, days: 28 });
    const sentence = expect.stringMatching(
      /^Nobody is on duty from .* until .* and at \d+ other times within 28 days \(Europe\/Istanbul\)$/,
    );
    expect(preview.warnings).toMatchObject([
      { kind: 'GAP', message: sentence, from: expect.any(String), user: null },
      { kind: 'UNREACHABLE', user: { id: admin }, message: expect.stringContaining('no confirmed contact') },
    ]);
    const rota = await ok('rotas.create', { name: 'Engineers', ...input });
    expect(rota).toMatchObject({
      name: 'Engineers',
      warnings: [{ kind: 'GAP' }, { kind: 'UNREACHABLE' }],
      overrides: [],
    });
    expect(rota.layers).toEqual([
      { ...workdays, handover: '08:00', hours: { ...workdays.hours, weekdays: [1, 2, 3, 4, 5] } },
    ]);
    await addContact(gantry, admin);
    const { id } = rota;
    const closed = await ok('rotas.update', { id, layers: [always] });
    expect(closed.warnings).toEqual([]);
    const shifts = await ok('rotas.getOnDuty', {
      id,
      at: '2026-03-01T12:00',
      startDate: '2026-03-01',
      days: 14,
    });
    expect(shifts.onDuty).toMatchObject({ id: admin });
    expect(shifts.shifts).toHaveLength(1);
    expect((await ok('rotas.getAll')).rotas).toMatchObject([{ id, onDuty: { id: admin } }]);
    expect(await ok('rotas.delete', { id })).toEqual({ success: true, id });
    expect((await gantry.refusal('rotas.getById', { id }, { token })).status).toBe(404);
  });

  it('shows whole days, also those on which clocks change', async () => {
    const rota = await ok('rotas.create', { name: 'Clocks', timezone: 'Europe/Berlin', layers: [always] });
    const lastOf = async (startDate: string, days: number) =>
      (await ok('rotas.getOnDuty', { id: rota.id, startDate, days })).shifts.at(-1).until;
    expect(await lastOf('2026-10-25', 1)).toBe('2026-10-25T23:00:00.000Z');
    expect(await lastOf('2026-03-29', 1)).toBe('2026-03-29T22:00:00.000Z');
    expect(await lastOf('2026-10-01', 31)).toBe('2026-10-31T23:00:00.000Z');
    await ok('rotas.delete', { id: rota.id });
  });

  it('and a channel stay while a policy names them', async () => {
    const rota = await ok('rotas.create', { name: 'Named', layers: [always] });
    await gantry.pool.query(`INSERT INTO channels (name, kind, settings, plates, language, enabled, created_by)
      VALUES ('Named', 'SMTP', '{}', 'HIDE', 'en', true, gen_random_uuid())`);
    const { channels } = await ok('channels.getAll');
    const channelId = channels.find(({ name }: { name: string }) => name === 'Named').id;
    const to = [{ rotaId: rota.id.toUpperCase() }, { channelId }];
    const policy = await ok('policies.create', { name: 'Desk', steps: [{ afterMinutes: 0, to }] });
    const refusal = (procedure: string, id: string) => gantry.refusal(procedure, { id }, { token });
    expect(await refusal('rotas.delete', rota.id)).toMatchObject({
      status: 409,
      message: 'Policies name this rota (Desk): take it out of their steps first',
    });
    expect(await refusal('channels.delete', channelId.toUpperCase())).toMatchObject({
      status: 409,
      message: 'Policies name this channel (Desk): take it out of their steps first',
    });
    expect(await refusal('rotas.delete', 'nowhere')).toMatchObject({ status: 404 });
    await ok('policies.delete', { id: policy.id });
    await ok('rotas.delete', { id: rota.id });
    await ok('channels.delete', { id: channelId });
  });

  it('has nobody on duty while whose turn it is was deactivated, and somebody can step in', async () => {
    const user = { firstName: 'Kim', lastName: 'Left', role: 'OPERATOR', password: 'Correct-horse-2' };
    const { id: left } = await ok('users.create', { ...user, email: 'kim@example.org' });
    const layers = [{ ...always, members: [left] }];
    const { id } = await ok('rotas.create', { name: 'Left', layers });
    const who = async () => (await ok('rotas.getOnDuty', { id })).onDuty?.id ?? null;
    expect(await who()).toBe(left);
    await ok('users.update', { id: left, isActive: false });
    expect(await who()).toBeNull();
    expect((await ok('rotas.getAll')).rotas).toMatchObject([{ id, onDuty: null }]);
    const overrides = [{ from: today, until: new Date(Date.now() + 2 * DAY), userId: operator }];
    await ok('rotas.update', { id, layers, overrides });
    expect(await who()).toBe(operator);
    const added = { ...always, members: [left] };
    const elsewhere = { name: 'Other', layers: [added] };
    expect(await gantry.refusal('rotas.create', elsewhere, { token })).toMatchObject({ status: 400 });
    await ok('users.delete', { id: left });
    expect(await ok('rotas.update', { id, layers, overrides: [] })).toMatchObject({ name: 'Left' });
    expect(await who()).toBeNull();
    await ok('rotas.delete', { id });
  });

  it('has overrides, which are local times of its zone', async () => {
    const overrides = [{ from: '2026-03-01T20:00', until: '2026-03-02', userId: operator.toUpperCase() }];
    const rota = await ok('rotas.create', {
      name: 'x',
      timezone: 'Europe/Istanbul',
      layers: [always],
      overrides,
    });
    expect(rota.overrides).toEqual([
      { from: '2026-03-01T17:00:00.000Z', until: '2026-03-01T21:00:00.000Z', userId: operator },
    ]);
    const who = async (at: string) => (await ok('rotas.getOnDuty', { id: rota.id, at })).onDuty.id;
    expect(await who('2026-03-01T19:59')).toBe(admin);
    expect(await who('2026-03-01T20:00')).toBe(operator);
    expect(await who('2026-03-01T21:00:00Z')).toBe(admin);
    await ok('rotas.delete', { id: rota.id });
  });

  it.each([
    [{ layers: [] }, 'layers', /at least one layer/],
    [{ layers: [{ ...always, members: [] }] }, 'layers.0.members', /at least one user/],
    [{ layers: [{ ...always, members: ['x'] }] }, 'layers.0.members.0', /no such active user/],
    [{ layers: [{ ...always, handover: '25:00' }] }, 'layers.0.handover', /time of day/],
    [{ layers: [{ ...always, start: '2026-02-30' }] }, 'layers.0.start', /ISO 8601/],
    [{ layers: [always], timezone: 'Mars/Base' }, 'timezone', /IANA time zone/],
    [
      { layers: [always], overrides: [{ from: '2026-03-02', until: '2026-03-01', userId: null }] },
      'overrides.0.until',
      /ends before it begins/,
    ],
  ])('is refused with what would be right: %j', async (input, path, message) => {
    const { status, data } = await gantry.refusal('rotas.create', { name: 'x', ...input }, { token });
    expect(status).toBe(400);
    expect(data.issues).toContainEqual({ path, message: expect.stringMatching(message) });
  });

  it('tells whoever is on duty, and says when nobody is', async () => {
    const layers = [{ ...always, members: [operator] }];
    const { id } = await ok('rotas.create', { name: 'y', timezone: 'UTC', layers });
    await addContact(gantry, operator, { address: 'op@example.org' });
    // Without a mail server, a channel of this kind cannot be created.
    await gantry.pool.query(`INSERT INTO channels (name, kind, settings, plates, language, enabled, created_by)
      VALUES ('Mail', 'SMTP', '{}', 'HIDE', 'en', true, gen_random_uuid())`);
    expect(await announceTo(gantry, [{ rotaId: id }])).toEqual({ recipients: 1, dropped: [] });
    const { rows } = await gantry.pool.query('SELECT recipient, user_id FROM notices');
    expect(rows).toEqual([{ recipient: 'op@example.org', user_id: operator }]);
    const overrides = [{ from: today, until: new Date(Date.now() + 2 * DAY).toISOString(), userId: null }];
    await ok('rotas.update', { id, overrides });
    const target = { rotaId: id };
    expect(await announceTo(gantry, [target])).toEqual({
      recipients: 0,
      dropped: [{ target, reason: 'NOBODY_ON_DUTY' }],
    });
  });
});
