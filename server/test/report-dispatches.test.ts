import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_ATTACHMENT_BYTES } from '@gantry/contract/reports';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimDispatches } from '../src/reports/dispatches-store.ts';
import { eventually, sharedGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';

const mail = await startMailServer();
afterAll(() => mail[Symbol.asyncDispose]());
const gantry = await sharedGantry({
  config: {
    SMTP_URL: mail.url,
    SMTP_FROM: 'Gantry <gantry@example.org>',
    PUBLIC_URL: 'https://gantry.example.org',
    HIDE_PLATES_FROM: 'ANALYST',
  },
  overrides: { timings: { sweepReportsMs: 200 } },
});
const token = await gantry.tokenFor('ADMIN');
const PLATE = 'B-XY 4711';
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const DAILY = { kind: 'EVENTS', format: 'CSV', every: 'DAILY', hour: 0 };

beforeAll(async () => {
  const apiKey = await gantry.registerSensor();
  const timestamp = `${YESTERDAY}T12:00:00Z`;
  await gantry.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: PLATE, timestamp });
});
beforeEach(() => {
  mail.messages.length = 0;
});

interface Dispatch {
  readonly kind: string;
  readonly recipient: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly sentAt: string | null;
  readonly dueAt: string | null;
}

const createSchedule = async (sendTo: object | null, more: object = {}): Promise<string> => {
  const { id } = await gantry.ok('reports.createSchedule', { ...DAILY, sendTo, ...more }, { token });
  return id;
};
const makeDue = (id: string) =>
  gantry.pool.query('UPDATE report_schedules SET next_run_at = now() WHERE id = $1', [id]);
const scheduleOf = async (id: string, as = token) => {
  const { schedules } = await gantry.ok('reports.getSchedules', { take: 100 }, { token: as });
  return schedules.find((each: { id: string }) => each.id === id);
};
/** What became of sending the report of a schedule, once all of it has this property. */
const sent = async (
  id: string,
  isReady: (each: Dispatch) => boolean = ({ status }) => status !== 'PENDING',
): Promise<Dispatch[]> => {
  const { lastSent } = await eventually(
    () => scheduleOf(id),
    ({ lastSent: last }) => last?.recipients.length > 0 && last.recipients.every(isReady),
  );
  return lastSent.recipients;
};
/** The text of a message, and its file. */
const contentOf = (at = 0) => ({
  text: mail.messages[at]?.part('text/plain').toString() ?? '',
  file: mail.messages[at]?.part('text/csv').toString() ?? '',
});
const folderOf = (name: string) => join(gantry.app.context.config.DATA_DIR, 'reports-out', name);
const again = (id: string) =>
  gantry.pool.query(
    `UPDATE report_dispatches SET status = 'PENDING', due_at = now() WHERE schedule_id = $1`,
    [id],
  );

describe('the reports of a schedule', () => {
  it('are sent to addresses, users and a folder, once each and without plates', async () => {
    const { id: userId, email } = await gantry.ok('auth.me', undefined, { token });
    const id = await createSchedule({
      emails: ['A@example.org'],
      userIds: [userId],
      folder: 'City of Ankara',
    });
    await makeDue(id);
    const recipients = await sent(id);
    expect(recipients.map(({ kind, status, attempts, error }) => [kind, status, attempts, error])).toEqual([
      ['EMAIL', 'SENT', 1, null],
      ['FOLDER', 'SENT', 1, null],
      ['USER', 'SENT', 1, null],
    ]);
    expect(mail.messages.flatMap(({ to }) => to).sort()).toEqual(['a@example.org', email].sort());
    const { text, file } = contentOf();
    expect(text).toContain(`Events, ${YESTERDAY}`);
    expect(text).toContain('https://gantry.example.org/reports/files');
    expect(file).toContain('•••');
    // Headers and names of files have identifiers and times, which may contain the digits of a plate.
    for (const { raw, part } of mail.messages)
      expect([raw, ...['plain', 'html', 'csv'].map((type) => part(`text/${type}`))].join()).not.toMatch(
        /B-?XY[ -]?4711/i,
      );
    const [name, ...others] = await readdir(folderOf('City of Ankara'));
    const { lastSent } = await scheduleOf(id);
    expect([name, others]).toEqual([`events_${YESTERDAY}_${lastSent.reportId}.csv`, []]);
    expect(await readFile(join(folderOf('City of Ankara'), name ?? ''), 'utf8')).toBe(file);
  });

  it('show plates only if the schedule says so, and never to a role that may not see them', async () => {
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: await gantry.tokenFor('ANALYST') });
    const shown = { emails: ['police@example.org'], withPlates: true };
    const refusal = await gantry.call(
      'reports.createSchedule',
      { ...DAILY, sendTo: { ...shown, userIds: [userId] } },
      { token },
    );
    expect(refusal.body.error.json.message).toContain('may not see number plates');
    const id = await createSchedule(shown);
    // As if the role had changed since.
    await gantry.pool.query(
      `UPDATE report_schedules SET send_to = jsonb_set(send_to, '{userIds}', to_jsonb(ARRAY[$2::text])) WHERE id = $1`,
      [id, userId],
    );
    await makeDue(id);
    expect(await sent(id)).toMatchObject([
      { kind: 'EMAIL', status: 'SENT' },
      { kind: 'USER', status: 'FAILED', attempts: 1, error: expect.stringContaining('may not see') },
    ]);
    expect(mail.messages.map(({ to }) => to)).toEqual([['police@example.org']]);
    expect(contentOf().file).toContain(PLATE);
  });

  it('are not sent to a user who may not view reports any more, who is not added anew', async () => {
    const user = { firstName: 'Kim', lastName: 'Moved', role: 'VIEWER', password: 'Correct-horse-2' };
    const { id: moved } = await gantry.ok('users.create', { ...user, email: 'moved@example.org' }, { token });
    const sendTo = { emails: ['a@example.org'], userIds: [moved] };
    const id = await createSchedule(sendTo);
    await gantry.ok('users.updateRole', { id: moved, role: 'FIELD' }, { token });
    await makeDue(id);
    expect(await sent(id)).toMatchObject([
      { kind: 'EMAIL', status: 'SENT' },
      { kind: 'USER', status: 'FAILED', attempts: 1, error: expect.stringContaining('may not view reports') },
    ]);
    expect(mail.messages.map(({ to }) => to)).toEqual([['a@example.org']]);
    await gantry.ok('reports.updateSchedule', { id, hour: 4, sendTo }, { token });
    expect(await gantry.refusal('reports.createSchedule', { ...DAILY, sendTo }, { token })).toMatchObject({
      status: 400,
      message: expect.stringContaining('View Reports'),
    });
    await gantry.ok('reports.deleteSchedule', { id }, { token });
    await gantry.ok('users.delete', { id: moved }, { token });
  });

  it('that show plates are not sent after the schedule forbids it', async () => {
    const id = await createSchedule({ emails: ['late@example.org'], withPlates: true });
    mail.refuse('recipient', 451);
    await makeDue(id);
    await sent(id, ({ attempts, error }) => attempts === 1 && error !== null);
    const sendTo = { emails: ['late@example.org'], folder: 'kept' };
    await gantry.ok('reports.updateSchedule', { id, sendTo }, { token });
    await again(id);
    expect(await sent(id)).toMatchObject([
      { status: 'FAILED', error: expect.stringContaining('withPlates') },
    ]);
    expect(mail.messages).toEqual([]);
  });

  it('are sent again after a failure that may pass, as the same message, and not after another', async () => {
    const id = await createSchedule({ emails: ['one@example.org'] });
    mail.refuse('message', 451);
    await makeDue(id);
    const [waiting] = await sent(id, ({ error }) => error !== null);
    expect(waiting).toMatchObject({ status: 'PENDING', attempts: 1, dueAt: expect.any(String) });
    await again(id);
    expect(await sent(id)).toMatchObject([{ status: 'SENT', attempts: 2, error: null, dueAt: null }]);
    await again(id);
    await sent(id);
    const ids = mail.messages.map(({ headers }) => headers.get('message-id'));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    mail.refuse('recipient', 550);
    await again(id);
    expect(await sent(id)).toMatchObject([{ status: 'FAILED', error: expect.stringContaining('No such') }]);
  });

  it('are sent by another process when the one that began was killed', async () => {
    const id = await createSchedule({ folder: 'killed' });
    await makeDue(id);
    await sent(id);
    const [name] = await readdir(folderOf('killed'));
    const path = join(folderOf('killed'), name ?? '');
    const before = await stat(path);
    // The killed process had put the file into the folder, and could not record it.
    await gantry.pool.query(
      `UPDATE report_dispatches SET status = 'PENDING', due_at = now() + interval '1 hour' WHERE schedule_id = $1`,
      [id],
    );
    expect(await claimDispatches(gantry.app.context.db, 'FOLDER', 5, 1_000)).toEqual([]);
    await again(id);
    expect(await sent(id)).toMatchObject([{ status: 'SENT' }]);
    const after = await stat(path);
    expect([after.ino, after.mtimeMs, await readdir(folderOf('killed'))]).toEqual([
      before.ino,
      before.mtimeMs,
      [name],
    ]);
  });

  it('are claimed by one process at a time', async () => {
    const id = await createSchedule({ folder: 'claims' });
    const reportId = randomUUID();
    await gantry.pool.query(
      `INSERT INTO report_dispatches (report_id, schedule_id, kind, recipient, due_at)
       SELECT $1, $2, 'EMAIL', n || '@example.org', now() - interval '1 year' FROM generate_series(1, 20) n`,
      [reportId, id],
    );
    const { db } = gantry.app.context;
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => claimDispatches(db, 'EMAIL', 5, 60_000)),
    );
    const ids = claims.flat().map((each) => each.id);
    expect(new Set(ids).size).toBe(ids.length);
    await gantry.pool.query('DELETE FROM report_dispatches WHERE report_id = $1', [reportId]);
  });

  it('that are too large are not attached, but can be downloaded after a login', async () => {
    const id = await createSchedule({ emails: ['large@example.org'], language: 'tr' });
    await makeDue(id);
    await sent(id);
    await gantry.pool.query('UPDATE reports SET size = $2 WHERE schedule_id = $1', [
      id,
      MAX_ATTACHMENT_BYTES + 1,
    ]);
    await again(id);
    await sent(id);
    expect(contentOf(0).text).toContain('Rapor ektedir.');
    expect(contentOf(1)).toEqual({
      text: expect.stringMatching(/çok büyük[\s\S]*https:\/\/gantry\.example\.org\/reports\/files/),
      file: '',
    });
    expect((await fetch(`${gantry.url}/reports/${id}/file`)).status).toBe(401);
  });

  it('wait for the folder while it cannot be written', async () => {
    const { writeFile, rm, mkdir } = await import('node:fs/promises');
    await mkdir(folderOf(''), { recursive: true });
    await writeFile(folderOf('occupied'), '');
    const id = await createSchedule({ folder: 'occupied' });
    await makeDue(id);
    expect(await sent(id, ({ error }) => error !== null)).toMatchObject([
      { status: 'PENDING', attempts: 1, error: expect.stringMatching(/EEXIST|ENOTDIR/) },
    ]);
    await rm(folderOf('occupied'));
    await again(id);
    expect(await sent(id)).toMatchObject([{ status: 'SENT', attempts: 2 }]);
  });

  it('are not sent to whom the schedule left out meanwhile, nor after it was deleted', async () => {
    const id = await createSchedule({ emails: ['a@example.org', 'b@example.org'] });
    mail.refuse('recipient', 451, 2);
    await makeDue(id);
    await sent(id, ({ error }) => error !== null);
    await gantry.ok('reports.updateSchedule', { id, sendTo: { emails: ['b@example.org'] } }, { token });
    expect(await sent(id, () => true)).toMatchObject([{ recipient: 'b@example.org', status: 'PENDING' }]);
    await gantry.ok('reports.deleteSchedule', { id }, { token });
    const { rows } = await gantry.pool.query('SELECT FROM report_dispatches WHERE schedule_id = $1', [id]);
    expect(rows).toEqual([]);
  });
});

describe('where reports are sent', () => {
  const many = Array.from({ length: 21 }, (_, n) => `${n}@example.org`);
  it.each([
    ['nobody', {}, 'Name a recipient or a folder'],
    ['too many', { emails: many }, '20'],
    ['too many together', { emails: many.slice(0, 20), userIds: [randomUUID()] }, '20 recipients'],
    ['one address twice', { emails: ['a@example.org', 'A@example.org '] }, 'each address once'],
    ['no address', { emails: ['a@example.org\nbcc: b@example.org'] }, 'valid e-mail address'],
    ['an unknown user', { userIds: [randomUUID()] }, 'no active user'],
    ['no id of a user', { userIds: ['x'] }, 'no active user'],
    ['a folder outside', { folder: '../reports' }, 'Name a folder'],
    ['a path', { folder: 'a/b' }, 'Name a folder'],
    ['a hidden folder', { folder: '.part' }, 'Name a folder'],
    ['a folder with a dot at its end', { folder: 'a.' }, 'Name a folder'],
  ])('is refused with %s', async (_, sendTo, message) => {
    const { status, body } = await gantry.call('reports.createSchedule', { ...DAILY, sendTo }, { token });
    expect([status, body.error.json.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('may be changed while a recipient is deactivated, who is not added anew', async () => {
    const user = { firstName: 'Kim', lastName: 'Left', role: 'VIEWER', password: 'Correct-horse-2' };
    const { id: left } = await gantry.ok('users.create', { ...user, email: 'kim@example.org' }, { token });
    const sendTo = { emails: ['a@example.org'], userIds: [left] };
    const id = await createSchedule(sendTo);
    await gantry.ok('users.update', { id: left, isActive: false }, { token });
    const filters = { eventType: 'PLATE_RECOGNITION' };
    expect(await gantry.ok('reports.updateSchedule', { id, filters }, { token })).toMatchObject({ filters });
    await gantry.ok('reports.updateSchedule', { id, hour: 4, sendTo }, { token });
    const without = { ...sendTo, userIds: [] };
    await gantry.ok('reports.updateSchedule', { id, sendTo: without }, { token });
    expect(await gantry.refusal('reports.updateSchedule', { id, sendTo }, { token })).toMatchObject({
      status: 400,
      message: expect.stringContaining(`no active user ${left}`),
    });
    await gantry.ok('reports.deleteSchedule', { id }, { token });
  });

  it('must be said to be with plates if the report is on one plate', async () => {
    const input = { ...DAILY, filters: { licensePlateNumber: PLATE }, sendTo: { emails: ['a@example.org'] } };
    const { status, body } = await gantry.call('reports.createSchedule', input, { token });
    expect([status, body.error.json.message]).toEqual([400, expect.stringContaining('set withPlates')]);
    const sendTo = { ...input.sendTo, withPlates: true };
    const { id } = await gantry.ok('reports.createSchedule', { ...input, sendTo }, { token });
    const update = await gantry.call('reports.updateSchedule', { id, sendTo: input.sendTo }, { token });
    expect([update.status, update.body.error.json.message]).toEqual([
      400,
      expect.stringContaining('withPlates'),
    ]);
  });

  it('is oneself without the permission to manage the reports of others, who do not see addresses', async () => {
    const viewer = await gantry.tokenFor('ANALYST');
    const { id: userId } = await gantry.ok('auth.me', undefined, { token: viewer });
    for (const sendTo of [{ emails: ['a@example.org'] }, { folder: 'a' }, { userIds: [randomUUID()] }]) {
      const { status } = await gantry.call('reports.createSchedule', { ...DAILY, sendTo }, { token: viewer });
      expect(status).toBe(403);
    }
    const own = await gantry.ok(
      'reports.createSchedule',
      { ...DAILY, sendTo: { userIds: [userId.toUpperCase()] } },
      { token: viewer },
    );
    expect(own.sendTo.userIds).toEqual([userId]);
    const withPlates = await gantry.call(
      'reports.updateSchedule',
      { id: own.id, sendTo: { userIds: [userId], withPlates: true } },
      { token: viewer },
    );
    expect(withPlates.status).toBe(400);
    const id = await createSchedule({ emails: ['secret@example.org'] });
    expect((await scheduleOf(id, viewer)).sendTo).toBeNull();
    expect((await scheduleOf(id)).sendTo.emails).toEqual(['secret@example.org']);
  });

  it('is nobody without a mail server, but a folder still is', async () => {
    const { startGantry } = await import('./harness.ts');
    await using other = await startGantry();
    const as = { token: await other.tokenFor('ADMIN') };
    const refused = await other.call(
      'reports.createSchedule',
      { ...DAILY, sendTo: { emails: ['a@example.org'] } },
      as,
    );
    expect([refused.status, refused.body.error.json.message]).toEqual([
      400,
      expect.stringContaining('SMTP_URL'),
    ]);
    await other.ok('reports.createSchedule', { ...DAILY, sendTo: { folder: 'a' } }, as);
  });
});
