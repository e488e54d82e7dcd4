import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type CaseCheckCode, caseCheckSentences } from '@gantry/contract/case-check-sentences';
import { type CaseMove, caseMoves, caseStateAfter, caseTransitions } from '@gantry/contract/case-states';
import type { CaseCheckName, CaseDetail, CaseSummary } from '@gantry/contract/cases';
import type { Role } from '@gantry/contract/permissions';
import { filled } from '@gantry/contract/sentences';
import { caseStates } from '@gantry/contract/values';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { CertificateRow } from '../src/cases/certificates-store.ts';
import { type CaseFacts, judge } from '../src/cases/checks.ts';
import { openForEvent } from '../src/cases/open.ts';
import { lockOutRemovals } from '../src/events/holds-store.ts';
import { checkSeals } from '../src/evidence/check.ts';
import { bytesOfId } from '../src/evidence/records-store.ts';
import { sealNew } from '../src/evidence/sealer.ts';
import { openSealingKey } from '../src/evidence/seals.ts';
import { locks } from '../src/platform/database/locks.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { eventually, sharedGantry } from './harness.ts';
import { damageStored, png } from './sample-images.ts';
import { openStream } from './sse.ts';

const gantry = await sharedGantry({ overrides: { timings: { openCasesMs: 50 } } });
const admin = await gantry.tokenFor('ADMIN');
/** A user of a role, with a token. */
const addUser = async (role: Role, firstName: string): Promise<string> => {
  const [email, password] = [`${randomUUID()}@gantry.local`, 'Correct-horse-1'];
  await gantry.ok('users.create', { email, password, firstName, lastName: 'Tester', role }, { token: admin });
  return gantry.login(email, password);
};
const tokens = {
  ADMIN: admin,
  first: await addUser('OPERATOR', 'First'),
  second: await addUser('OPERATOR', 'Second'),
  third: await addUser('ADMIN', 'Third'),
  VIEWER: await gantry.tokenFor('VIEWER'),
};
type Who = keyof typeof tokens;
const ask = <Answer = CaseSummary>(procedure: string, input: object = {}, who: Who = 'first') =>
  gantry.ok<Answer>(procedure, input, { token: tokens[who] });
const refuse = (procedure: string, input: object = {}, who: Who = 'first') =>
  gantry.refusal(procedure, input, { token: tokens[who] });
const get = (id: string) => ask<CaseDetail>('cases.getById', { id });

const MINUTE = 60_000;
const DAY = 86_400_000;
const away = (ms: number): string => new Date(Date.now() + ms).toISOString();

interface Site {
  readonly sensorId: string;
  readonly apiKey: string;
  readonly locationId: string;
}
let shade = 0;
const image = () => png({ shade: shade++ }).toString('base64');

/** A sensor that is ONLINE, at a location with a limit of 50 km/h. */
const addSite = async (limit: number | null = 50): Promise<Site> => {
  const place = {
    name: `Bridge ${randomUUID()}`,
    address: 'Bridge Road 1',
    kind: 'SEGMENT',
    speedLimit: limit,
  };
  const { id: locationId } = await ask<{ id: string }>('locations.create', place, 'ADMIN');
  const fields = { name: `Camera ${randomUUID()}`, deviceId: randomUUID(), type: 'CAMERA', locationId };
  const { id, apiKey } = await ask<{ id: string; apiKey: string }>('sensors.create', fields, 'ADMIN');
  await ask('sensors.update', { id, status: 'ONLINE' }, 'ADMIN');
  await gantry.pool.query(
    `UPDATE sensor_status_history SET at = at - interval '1 day' WHERE sensor_id = $1`,
    [id],
  );
  return { sensorId: id, apiKey, locationId };
};
const certify = (sensorId: string, kind: string, fields: object = {}) =>
  ask<{ id: string }>('certificates.add', {
    sensorId,
    kind,
    number: `${kind} 1`,
    validFrom: away(-100 * DAY),
    validUntil: away(100 * DAY),
    ...(kind === 'CALIBRATION' && { tolerance: { fixedKmh: 3, percent: 3 } }),
    ...fields,
  });
const speeding = (site: Site, fields: object = {}) =>
  gantry.ingest(site.apiKey, {
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'SPEEDING',
    vehicleSpeed: 78,
    licensePlateNumber: 'B AB 1234',
    plateConfidence: 97,
    timestamp: away(0),
    images: [image(), image()],
    ...fields,
  });
/** A site whose certificates are in order. */
const addCertified = async (): Promise<Site> => {
  const site = await addSite();
  await certify(site.sensorId, 'TYPE_APPROVAL');
  await certify(site.sensorId, 'CALIBRATION');
  // So that the clock of the sensor is known.
  for (let n = 0; n < 5; n++) await gantry.ingest(site.apiKey, { timestamp: away(0) });
  return site;
};
const certified = await addCertified();
const openNew = async (site = certified, fields: object = {}) =>
  ask<CaseDetail>('cases.open', { eventId: await speeding(site, fields) });

/** A case in a state, by the moves that lead there. */
const inState = async (state: string, site = certified): Promise<string> => {
  const { id } = await openNew(site);
  if (state === 'NEW') return id;
  if (state === 'REJECTED') {
    await ask('cases.reject', { id, code: 'UNREADABLE' });
    return id;
  }
  await ask('cases.check', { id });
  if (state === 'CHECKED') return id;
  if (state === 'DISPUTED') await ask('cases.dispute', { id, reason: 'Another plate' }, 'second');
  else await ask('cases.verify', { id }, 'second');
  if (state === 'EXPORTED')
    await gantry.pool.query(`UPDATE cases SET state = 'EXPORTED' WHERE id = $1`, [id]);
  return id;
};

const calls: Readonly<Record<Exclude<CaseMove, 'export'>, { procedure: string; input: object; who: Who }>> = {
  addItem: { procedure: 'cases.addItem', input: { role: 'NOTE', text: 'Seen' }, who: 'first' },
  measure: { procedure: 'cases.measure', input: { metres: 10, intervalMs: 500 }, who: 'first' },
  check: { procedure: 'cases.check', input: {}, who: 'first' },
  verify: { procedure: 'cases.verify', input: {}, who: 'second' },
  reject: { procedure: 'cases.reject', input: { code: 'OTHER', text: 'A tractor' }, who: 'second' },
  dispute: { procedure: 'cases.dispute', input: { reason: 'Not so' }, who: 'second' },
  uphold: { procedure: 'cases.decide', input: { decision: 'VERIFIED', reason: 'Clear' }, who: 'third' },
  overrule: {
    procedure: 'cases.decide',
    input: { decision: 'REJECTED', code: 'TWO_VEHICLES', reason: 'Two' },
    who: 'third',
  },
  unlock: { procedure: 'cases.unlock', input: { reason: 'A mistake' }, who: 'ADMIN' },
  close: { procedure: 'cases.close', input: {}, who: 'first' },
};
const moves = caseMoves.filter((move): move is keyof typeof calls => move !== 'export');
const inputOf = async (move: keyof typeof calls, id: string) => {
  const { items } = await get(id);
  const lines = move === 'measure' && { first: items[0]?.id, second: items[1]?.id };
  return { id, ...calls[move].input, ...lines };
};

describe('a case', () => {
  it.each(
    moves.flatMap((move) =>
      caseStates.map((state) => ({ move, state, next: caseStateAfter(move, state, false) })),
    ),
  )('$move of a $state case leads to $next', async ({ move, state, next }) => {
    const id = await inState(state);
    const { procedure, who } = calls[move];
    const input = await inputOf(move, id);
    if (next === null) {
      expect(await refuse(procedure, input, who)).toMatchObject({ status: 409 });
      expect((await get(id)).state).toBe(state);
      return;
    }
    expect(await ask(procedure, input, who)).toMatchObject({ state: next });
  });

  it('does not change once it is closed, but for its export', async () => {
    const id = await inState('VERIFIED');
    await ask('cases.close', { id, reason: 'Paid' });
    for (const move of moves)
      expect(await refuse(calls[move].procedure, await inputOf(move, id), calls[move].who)).toMatchObject({
        status: 409,
        message: expect.stringContaining('was closed'),
      });
  });

  it('has a move from each state but for the ends, and none to NEW but unlock', () => {
    const from = new Set(Object.values(caseTransitions).flatMap((each) => Object.keys(each)));
    expect([...from].sort()).toEqual([...caseStates].sort());
    for (const [move, each] of Object.entries(caseTransitions))
      if (move !== 'unlock' && move !== 'addItem' && move !== 'measure')
        expect(Object.values(each)).not.toContain('NEW');
  });

  it('tells what it is about, what speaks for it, and what was done with it', async () => {
    const eventId = await speeding(certified);
    const opened = await ask<CaseDetail>('cases.open', { eventId });
    expect(opened).toMatchObject({
      number: expect.stringMatching(/^\d{4}-\d{6}$/),
      kind: 'VIOLATION',
      state: 'NEW',
      version: 1,
      violationType: 'SPEEDING',
      eventId,
      sensorId: certified.sensorId,
      licensePlateNumber: 'B AB 1234',
      openedBy: { name: 'First Tester' },
      needsSecond: true,
      measuredKmh: 78,
      limitKmh: 50,
      toleranceKmh: 3,
      speedSentence: 'Measured 78 km/h - 3 km/h tolerance = 75 km/h; limit 50 km/h: 25 km/h over',
      items: [
        { role: 'FIRST', eventId, contentType: 'image/png' },
        { role: 'SECOND', eventId, url: expect.stringContaining('/images/') },
      ],
      log: [{ seq: 1, action: 'opened', by: { name: 'First Tester' }, prev: '0'.repeat(64) }],
    });
    expect(opened.checks.map(({ name, result }) => [name, result])).toEqual([
      ['CERTIFICATES', 'PASS'],
      ['SENSOR', 'PASS'],
      ['CLOCK', 'PASS'],
      ['LIMIT', 'PASS'],
      ['SPEED', 'PASS'],
      ['PLATE', 'PASS'],
      ['IMAGES', 'PASS'],
      ['SECONDARY', 'UNKNOWN'],
    ]);
    const { id } = opened;
    expect((await ask<CaseDetail>('cases.open', { eventId }, 'second')).id).toBe(id);
    await ask('cases.check', { id, expectedVersion: 1 });
    await ask('cases.verify', { id, expectedVersion: 2 }, 'second');
    const verified = await get(opened.number);
    expect(verified).toMatchObject({
      state: 'VERIFIED',
      version: 3,
      firstBy: { name: 'First Tester' },
      secondBy: { name: 'Second Tester' },
      lockedAt: expect.anything(),
    });
    expect(verified.items.filter(({ role }) => role === 'CERTIFICATE')).toHaveLength(2);
    expect(verified.log.map(({ seq, action }) => [seq, action])).toEqual([
      [1, 'opened'],
      [2, 'checked'],
      [3, 'verified'],
    ]);
    expect(verified.log[2]?.prev).toBe(verified.log[1]?.hash);
  });
});

describe('two persons', () => {
  it('are needed, whatever the role', async () => {
    const { id } = await openNew();
    await ask('cases.check', { id }, 'third');
    expect(await refuse('cases.verify', { id }, 'third')).toMatchObject({
      status: 403,
      message: expect.stringContaining('another person must verify'),
    });
    expect(await refuse('cases.dispute', { id, reason: 'x' }, 'third')).toMatchObject({ status: 403 });
    await ask('cases.dispute', { id, reason: 'x' }, 'ADMIN');
    for (const who of ['third', 'ADMIN'] as const)
      expect(await refuse('cases.decide', { id, decision: 'VERIFIED', reason: 'x' }, who)).toMatchObject({
        status: 403,
      });
  });

  it('are not two tokens of one', async () => {
    const { id } = await openNew();
    await ask('cases.check', { id });
    const { token } = await ask<{ token: string }>('apiTokens.create', {
      name: 'Script',
      role: 'OPERATOR',
      password: 'Correct-horse-1',
    });
    expect(await gantry.refusal('cases.verify', { id }, { token })).toMatchObject({ status: 403 });
  });

  it('who race to be the second: one wins', async () => {
    const { id } = await openNew();
    await ask('cases.check', { id });
    const answers = await Promise.all(
      (['second', 'third', 'ADMIN'] as const).map((who) =>
        gantry.call('cases.verify', { id }, { token: tokens[who] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await get(id)).log.filter(({ action }) => action === 'verified')).toHaveLength(1);
  });

  it('who do not agree: only one of two moves counts', async () => {
    const { id } = await openNew();
    await ask('cases.check', { id });
    const answers = await Promise.all([
      gantry.call('cases.verify', { id }, { token: tokens.second }),
      gantry.call('cases.dispute', { id, reason: 'x' }, { token: tokens.third }),
      gantry.call('cases.reject', { id, code: 'UNREADABLE' }, { token: tokens.ADMIN }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('cannot be circumvented in the database', async () => {
    const id = await inState('CHECKED');
    const alone = `UPDATE cases SET state = 'VERIFIED', locked_at = now(), second_by = first_by, second_at = now() WHERE id = $1`;
    await expect(gantry.pool.query(alone, [id])).rejects.toThrow(/check constraint/);
  });

  it('are one for types of violations that need one only', async () => {
    const type = `PARKING_${randomUUID().slice(0, 8)}`;
    await ask('cases.updateRules', { secondPerson: { [type.toLowerCase()]: false } }, 'ADMIN');
    const { id, needsSecond } = await openNew(certified, { violationType: type });
    expect(needsSecond).toBe(false);
    await ask('cases.check', { id });
    expect(await ask('cases.verify', { id })).toMatchObject({ state: 'VERIFIED' });
  });

  it('see what waits for them', async () => {
    const { id } = await openNew();
    await ask('cases.check', { id });
    const list = (who: Who) =>
      ask<{ cases: CaseSummary[] }>('cases.getAll', { mine: 'SECOND', take: 100 }, who);
    expect((await list('first')).cases.map((each) => each.id)).not.toContain(id);
    expect((await list('second')).cases.map((each) => each.id)).toContain(id);
  });
});

describe('versions', () => {
  it('refuse a move on what somebody has changed since', async () => {
    const { id } = await openNew();
    await ask('cases.addItem', { id, role: 'NOTE', text: 'Wet road' }, 'second');
    expect(await refuse('cases.check', { id, expectedVersion: 1 })).toMatchObject({ status: 409 });
    expect(await ask('cases.check', { id, expectedVersion: 2 })).toMatchObject({ version: 3 });
  });
});

const checkOf = ({ checks }: CaseDetail, name: string) => {
  const { result, message, blocks } = checks.find((each) => each.name === name) ?? {};
  return { result, message, blocks };
};

describe('the check', () => {
  it.each([
    ['no certificate at all', {}, /no certificate TYPE_APPROVAL.*no certificate CALIBRATION/],
    [
      'one that begins after the event',
      { CALIBRATION: { validFrom: away(DAY), validUntil: away(9 * DAY), number: 'K 7' } },
      /CALIBRATION K 7 begins after it, on \d{4}/,
    ],
    [
      'one that had ended',
      { CALIBRATION: { validFrom: away(-9 * DAY), validUntil: away(-DAY), number: 'K 7' } },
      /CALIBRATION K 7 had ended on \d{4}/,
    ],
  ] as const)('CERTIFICATES fails with %s, and nothing overrides it', async (_, given, wanted) => {
    const site = await addSite();
    if (Object.keys(given).length > 0) await certify(site.sensorId, 'TYPE_APPROVAL');
    for (const [kind, fields] of Object.entries(given)) await certify(site.sensorId, kind, fields);
    const opened = await openNew(site);
    expect(checkOf(opened, 'CERTIFICATES')).toEqual({
      result: 'FAIL',
      blocks: true,
      message: expect.stringMatching(wanted),
    });
    expect(await refuse('cases.check', { id: opened.id, reason: 'It is right' })).toMatchObject({
      status: 409,
      message: expect.stringMatching(wanted),
    });
  });

  it('CERTIFICATES fails once one is withdrawn, between the first and the second person too', async () => {
    const site = await addCertified();
    const { id } = await openNew(site);
    await ask('cases.check', { id });
    const { certificates } = await ask<{ certificates: { id: string }[] }>('certificates.getAll', {
      sensorId: site.sensorId,
      kind: 'CALIBRATION',
    });
    await ask('certificates.withdraw', { id: certificates[0]?.id, reason: 'Another device' });
    expect(await refuse('cases.verify', { id, reason: 'x' }, 'second')).toMatchObject({
      status: 409,
      message: expect.stringContaining('was withdrawn: Another device'),
    });
  });

  it('SENSOR fails unless it was ONLINE then, and needs a reason', async () => {
    const site = await addCertified();
    await ask('sensors.update', { id: site.sensorId, status: 'MAINTENANCE' }, 'ADMIN');
    const opened = await openNew(site);
    expect(checkOf(opened, 'SENSOR')).toMatchObject({
      result: 'FAIL',
      message: 'The sensor was MAINTENANCE',
    });
    await ask('sensors.update', { id: site.sensorId, status: 'ONLINE' }, 'ADMIN');
    expect(checkOf(await get(opened.id), 'SENSOR').result).toBe('FAIL');
    expect(await refuse('cases.check', { id: opened.id })).toMatchObject({
      status: 400,
      data: { issues: [{ path: 'reason' }] },
    });
    const checked = await ask('cases.check', { id: opened.id, reason: 'The image is sharp' });
    expect(checked).toMatchObject({ state: 'CHECKED', failed: ['SENSOR'] });
    expect((await get(opened.id)).log.at(-1)?.details).toMatchObject({
      reason: 'The image is sharp',
      checks: { SENSOR: 'FAIL' },
    });
    expect(await refuse('cases.verify', { id: opened.id }, 'second')).toMatchObject({ status: 400 });
  });

  it('SENSOR fails where somebody rejected its data, and is unknown before it was registered', async () => {
    const site = await addCertified();
    const eventId = await speeding(site);
    const range = { startDate: away(-MINUTE), endDate: away(MINUTE) };
    const review = { sensorId: site.sensorId, ...range, decision: 'REJECT', reason: 'Rain' };
    await ask('traffic.reviewData', review, 'ADMIN');
    const opened = await ask<CaseDetail>('cases.open', { eventId });
    expect(checkOf(opened, 'SENSOR')).toMatchObject({
      result: 'FAIL',
      message: expect.stringContaining('Rain'),
    });
    await gantry.pool.query('DELETE FROM traffic_reviews WHERE place_id = $1', [site.sensorId]);
    await gantry.pool.query('DELETE FROM sensor_status_history WHERE sensor_id = $1', [site.sensorId]);
    await gantry.pool.query(`UPDATE sensors SET created_at = now() + interval '1 hour' WHERE id = $1`, [
      site.sensorId,
    ]);
    expect(checkOf(await get(opened.id), 'SENSOR').result).toBe('UNKNOWN');
  });

  it.each([
    ['UNKNOWN', [], 2],
    ['PASS', [100, 200, 300, 400, 500], 0],
    ['FAIL', [2_000, 2_100, 2_200, 2_300, 2_400], 0],
    ['FAIL', [-1_500, -1_500, -1_500, -1_500, -1_500], 0],
    ['UNKNOWN', [0, 10_000, 20_000, 30_000, 40_000], 0],
  ] as const)('CLOCK is %s for events that arrived %j ms after their times', async (result, lags, more) => {
    const site = await addSite();
    const opened = await openNew(site);
    for (let n = 0; n < lags.length + more; n++) await gantry.ingest(site.apiKey, { timestamp: away(0) });
    if (lags.length > 0) {
      await gantry.pool.query(
        `UPDATE events SET created_at = event_time(id) + ($2::float8[])[1 + (n % cardinality($2::float8[]))] * interval '1 millisecond'
         FROM (SELECT id AS numbered, (row_number() OVER (ORDER BY id) - 1)::int AS n FROM events WHERE sensor_id = $1) AS each
         WHERE id = numbered`,
        [site.sensorId, lags],
      );
    }
    expect(checkOf(await get(opened.id), 'CLOCK').result).toBe(result);
  });

  it('LIMIT and SPEED follow the limit of that time', async () => {
    const site = await addCertified();
    const opened = await openNew(site);
    await ask('locations.update', { id: site.locationId, speedLimit: 80 }, 'ADMIN');
    const later = await get(opened.id);
    expect(later).toMatchObject({ limitKmh: 50 });
    expect(checkOf(later, 'SPEED').result).toBe('PASS');
    const now = await openNew(site);
    expect(now.speedSentence).toBe('Measured 78 km/h - 3 km/h tolerance = 75 km/h; limit 80 km/h: not over');
    expect(checkOf(now, 'SPEED').result).toBe('FAIL');
    const nowhere = await addSite(null);
    const unknown = await openNew(nowhere);
    expect(checkOf(unknown, 'LIMIT').result).toBe('UNKNOWN');
    expect(checkOf(unknown, 'SPEED').result).toBe('UNKNOWN');
  });

  it.each([
    ['PASS', { licensePlateNumber: 'B AB 1', plateConfidence: 90 }],
    ['FAIL', { licensePlateNumber: 'B AB 1', plateConfidence: 89 }],
    ['UNKNOWN', { licensePlateNumber: 'B AB 1', plateConfidence: null }],
    ['FAIL', { licensePlateNumber: null, plateConfidence: null }],
  ] as const)('PLATE is %s for %j', async (result, fields) => {
    expect(checkOf(await openNew(certified, fields), 'PLATE').result).toBe(result);
  });

  it('IMAGES fails without images, which a reason overrides', async () => {
    const opened = await openNew(certified, { images: [] });
    expect(checkOf(opened, 'IMAGES')).toMatchObject({ result: 'FAIL', blocks: false });
    expect(await ask('cases.check', { id: opened.id, reason: 'Seen by an officer' })).toMatchObject({
      state: 'CHECKED',
    });
  });

  it('IMAGES blocks if one was changed on disk', async () => {
    const opened = await openNew();
    const { sha256 } = opened.items[0] ?? {};
    const { rows } = await gantry.pool.query(
      `SELECT name, position FROM images JOIN image_segments ON id = segment WHERE sha256 = decode($1, 'hex')`,
      [sha256],
    );
    const path = join(gantry.app.context.config.DATA_DIR, 'images', 'segments', rows[0].name);
    const file = await open(path, 'r+');
    await file.write(Buffer.from([0xff]), 0, 1, Number(rows[0].position) + 60);
    await file.close();
    expect(await refuse('cases.check', { id: opened.id, reason: 'x' })).toMatchObject({
      status: 409,
      message: expect.stringContaining(`${sha256}`),
    });
    expect(checkOf(await get(opened.id), 'IMAGES')).toMatchObject({ result: 'FAIL', blocks: true });
  });

  it('IMAGES counts an image of a device message, too, but neither its text nor the file of a certificate', async () => {
    const site = await addSite();
    await certify(site.sensorId, 'TYPE_APPROVAL', { file: image() });
    await certify(site.sensorId, 'CALIBRATION');
    const { id } = await openNew(site, { images: [] });
    const add = (fields: object) => ask<CaseDetail>('cases.addItem', { id, ...fields });
    expect(checkOf(await add({ role: 'RAW_MESSAGE', text: '<speed>78</speed>' }), 'IMAGES')).toMatchObject({
      message: 'There is no image',
    });
    const { items } = await ask<CaseDetail>('cases.check', { id, reason: 'Seen' }).then(() => get(id));
    const certificate = items.find(({ role, sha256 }) => role === 'CERTIFICATE' && sha256 !== null);
    expect(
      await refuse('cases.addItem', { id, role: 'FIRST', image: image(), derivedFrom: certificate?.id }),
    ).toMatchObject({ status: 400, data: { issues: [{ path: 'derivedFrom' }] } });
    await ask('cases.verify', { id, reason: 'Seen' }, 'second');
    await ask('cases.unlock', { id, reason: 'An image is missing' }, 'ADMIN');
    const withImage = await add({ role: 'RAW_MESSAGE', image: image() });
    expect(checkOf(withImage, 'IMAGES')).toMatchObject({ message: '1 image is as received' });
    const { sha256 } = withImage.items.at(-1) ?? {};
    await damageStored(gantry, sha256 ?? '', null);
    expect(await refuse('cases.check', { id, reason: 'Seen' })).toMatchObject({
      status: 409,
      message: expect.stringContaining(`${sha256}`),
    });
  });

  it('SECONDARY compares the speed by two line crossings with the measured one', async () => {
    const opened = await openNew();
    const [first, second] = opened.items.map(({ id }) => id);
    const { id } = opened;
    expect(await refuse('cases.measure', { id, first, second, metres: 10 })).toMatchObject({
      status: 400,
      data: { issues: [{ path: 'intervalMs' }] },
    });
    const measured = await ask<CaseDetail>('cases.measure', {
      id,
      first,
      second,
      metres: 10.8,
      intervalMs: 500,
    });
    expect(measured.lines).toMatchObject({ first, second, metres: 10.8, intervalMs: 500, kmh: 77.76 });
    expect(measured.lines).toMatchObject({ firstMark: null, secondMark: null });
    expect(checkOf(measured, 'SECONDARY')).toMatchObject({ result: 'PASS' });
    await ask('cases.check', { id });
    const other = await ask<CaseDetail>(
      'cases.measure',
      { id, first, second, metres: 6, intervalMs: 500 },
      'second',
    );
    expect(checkOf(other, 'SECONDARY')).toMatchObject({
      result: 'FAIL',
      message: 'By two line crossings: 43.2 km/h, measured 78 km/h: they differ by more than 10 %',
    });
    expect(other.failed).toEqual(['SECONDARY']);
  });

  it('keeps where the lines are crossed in the images, or nothing of it', async () => {
    const { id, items } = await openNew();
    const lines = { id, first: items[0]?.id, second: items[1]?.id, metres: 10.8, intervalMs: 500 };
    const marks = { firstMark: { x: 0.125, y: 0.5 }, secondMark: { x: 1, y: 0 } };
    for (const [wrong, path] of [
      [{ firstMark: marks.firstMark }, 'secondMark'],
      [{ ...marks, firstMark: { x: 1.01, y: 0.5 } }, 'firstMark.x'],
      [{ ...marks, secondMark: { x: 0.5 } }, 'secondMark.y'],
    ] as const)
      expect(await refuse('cases.measure', { ...lines, ...wrong })).toMatchObject({
        status: 400,
        data: { issues: [{ path }] },
      });
    const measured = await ask<CaseDetail>('cases.measure', { ...lines, ...marks });
    expect(measured.lines).toMatchObject(marks);
    const last = measured.log.at(-1);
    expect(last).toMatchObject({ action: 'measured', details: marks });
    // A measurement without marks does not keep those of the one before.
    expect((await ask<CaseDetail>('cases.measure', lines)).lines).toMatchObject({
      ...{ firstMark: null, secondMark: null },
    });
  });

  it('of other violations asks for no speed, and for the certificates that the sensor has', async () => {
    const bare = await addSite();
    const opened = await openNew(bare, { violationType: 'RED_LIGHT' });
    expect(opened.checks.map(({ name }) => name)).toEqual([
      'CERTIFICATES',
      'SENSOR',
      'CLOCK',
      'PLATE',
      'IMAGES',
    ]);
    expect(checkOf(opened, 'CERTIFICATES').result).toBe('UNKNOWN');
    await certify(bare.sensorId, 'TYPE_APPROVAL', { validUntil: away(-DAY) });
    expect(checkOf(await get(opened.id), 'CERTIFICATES').result).toBe('FAIL');
  });
});

describe('what a check found', () => {
  const certificate = (kind: CertificateRow['kind'], from: number, until: number, more: object = {}) =>
    ({
      ...{ kind, number: 'K 7', withdrawnAt: null, withdrawReason: null },
      ...{ tolerance: { fixedKmh: 3, percent: 3, roundDown: false } },
      ...{ validFrom: new Date(from * DAY), validUntil: new Date(until * DAY) },
      ...more,
    }) as CertificateRow;
  const approval = certificate('TYPE_APPROVAL', 0, 900);
  const calibration = certificate('CALIBRATION', 0, 900);
  const withCalibrations = (...all: CertificateRow[]) => ({ certificates: [approval, ...all] });
  const picture = { sha256: 'ab', isWhole: true, capturedAt: 100 * DAY };
  const later = { ...picture, capturedAt: 100 * DAY + 500 };
  const lags = (ms: number) => ({ lags: [ms, ms, ms, ms, ms] });
  const facts: CaseFacts = {
    ...{
      kind: 'VIOLATION',
      eventType: 'TRAFFIC_VIOLATION',
      violationType: 'SPEEDING',
      happenedAt: 100 * DAY,
      zone: 'UTC',
    },
    ...{ hasSensor: true, certificates: [approval, calibration], status: 'ONLINE', rejected: null },
    ...{ ...lags(200), hadUnusableTime: false, measuredKmh: 78, limitKmh: 50, secondaryKmh: 77.76 },
    ...{ plate: 'B AB 1', plateConfidence: 97, images: [picture, later] },
  };
  const withdrawn = { withdrawnAt: new Date(), withdrawReason: 'Another device' };
  const cases: readonly (readonly [CaseCheckName, readonly CaseCheckCode[], Partial<CaseFacts>])[] = [
    ['CERTIFICATES', ['certificateCovers', 'certificateCovers'], {}],
    ['CERTIFICATES', ['certificateMissing', 'certificateMissing'], { certificates: [] }],
    ['CERTIFICATES', ['certificateNotNeeded'], { certificates: [], violationType: 'RED_LIGHT' }],
    ['CERTIFICATES', ['certificateNotNeededSo'], { certificates: [], violationType: null }],
    [
      'CERTIFICATES',
      ['certificateWithdrawn'],
      withCalibrations(certificate('CALIBRATION', 0, 900, withdrawn)),
    ],
    [
      'CERTIFICATES',
      ['certificateMissingThen'],
      withCalibrations(certificate('CALIBRATION', 0, 90, withdrawn)),
    ],
    ['CERTIFICATES', ['certificateEnded'], withCalibrations(certificate('CALIBRATION', 0, 90))],
    ['CERTIFICATES', ['certificateLater'], withCalibrations(certificate('CALIBRATION', 110, 900))],
    [
      'CERTIFICATES',
      ['certificateGap'],
      withCalibrations(certificate('CALIBRATION', 0, 90), certificate('CALIBRATION', 110, 900)),
    ],
    ['SENSOR', ['sensorOnline'], {}],
    ['SENSOR', ['sensorNotOnline'], { status: 'ERROR' }],
    ['SENSOR', ['sensorUnknown'], { status: null }],
    ['SENSOR', ['sensorRejected'], { rejected: 'Rain' }],
    ['CLOCK', ['clockBehind'], {}],
    ['CLOCK', ['clockAhead'], lags(-200)],
    ['CLOCK', ['clockTooFarBehind'], lags(2_000)],
    ['CLOCK', ['clockTooFarAhead'], lags(-2_000)],
    ['CLOCK', ['clockUnusable'], { hadUnusableTime: true }],
    ['CLOCK', ['clockFewEvents'], { lags: [1] }],
    ['CLOCK', ['clockLateEvents'], { lags: [0, 10_000, 20_000, 30_000, 40_000] }],
    ['LIMIT', ['limitKnown'], {}],
    ['LIMIT', ['limitUnknown'], { limitKmh: null }],
    ['SPEED', ['speedLeft', 'speedOver'], {}],
    ['SPEED', ['speedLeft', 'speedNotOver'], { limitKmh: 80 }],
    ['SPEED', ['speedLeft', 'speedWithoutLimit'], { limitKmh: null }],
    ['SPEED', ['speedMissing'], { measuredKmh: null }],
    ['SPEED', ['speedWithoutTolerance'], { certificates: [approval] }],
    [
      'SPEED',
      ['speedLeftRounded', 'speedOver'],
      withCalibrations({ ...calibration, tolerance: { fixedKmh: 3, percent: 3, roundDown: true } }),
    ],
    ['PLATE', ['plateSure'], {}],
    ['PLATE', ['plateUnsure'], { plateConfidence: 60 }],
    ['PLATE', ['plateUnsaid'], { plateConfidence: null }],
    ['PLATE', ['plateMissing'], { plate: null }],
    ['IMAGES', ['imagesWholeApart'], {}],
    ['IMAGES', ['imagesWhole'], { images: [picture, picture] }],
    ['IMAGES', ['imageWhole'], { images: [picture] }],
    ['IMAGES', ['imagesMissing'], { images: [] }],
    ['IMAGES', ['imagesDamaged'], { images: [picture, { ...later, isWhole: false }] }],
    ['SECONDARY', ['linesNear'], {}],
    ['SECONDARY', ['linesFar'], { secondaryKmh: 40 }],
    ['SECONDARY', ['linesAlone'], { measuredKmh: null }],
    ['SECONDARY', ['linesMissing'], { secondaryKmh: null }],
  ];

  it.each(cases)('of %s is said by %j, with its values', (name, codes, given) => {
    const { checks } = judge({ ...facts, ...given });
    const { message = '', sentences = [] } = checks.find((check) => check.name === name) ?? {};
    expect(sentences.map(({ code }) => code)).toEqual(codes);
    expect(message).toBe(
      codes.map((code, n) => filled(caseCheckSentences[code], sentences[n]?.values ?? {})).join('; '),
    );
    expect(message).not.toMatch(/\{\{|: $|undefined|null/);
  });

  it('is said by all sentences that there are', () => {
    expect([...new Set(cases.flatMap(([, codes]) => codes))].sort()).toEqual(
      Object.keys(caseCheckSentences).sort(),
    );
  });

  it('has no sentences if it was stored by a version without them', async () => {
    const id = await inState('CHECKED');
    const before = (await get(id)).checks;
    expect(before.every(({ sentences }) => sentences.length > 0)).toBe(true);
    await gantry.pool.query(
      `UPDATE cases SET checks = (SELECT jsonb_agg(each - 'sentences') FROM jsonb_array_elements(checks) AS each) WHERE id = $1`,
      [id],
    );
    expect((await get(id)).checks).toEqual(before.map((check) => ({ ...check, sentences: [] })));
  });
});

describe('the items of a case', () => {
  it('are events, images, copies of images and notes, until it is verified', async () => {
    const { id, items } = await openNew();
    const eventId = await speeding(certified);
    const withEvent = await ask<CaseDetail>('cases.addItem', { id, role: 'OVERVIEW', eventId });
    expect(withEvent.items.filter((item) => item.eventId === eventId)).toHaveLength(2);
    const copy = {
      id,
      role: 'FIRST',
      image: image(),
      derivedFrom: items[0]?.id,
      note: 'The driver is hidden',
    };
    const withCopy = await ask<CaseDetail>('cases.addItem', copy);
    expect(withCopy.items.at(-1)).toMatchObject({ derivedFrom: items[0]?.id, text: 'The driver is hidden' });
    expect(withCopy.log.at(-1)).toMatchObject({
      action: 'itemAdded',
      details: { derivedFrom: items[0]?.id },
    });
    const withNote = await ask<CaseDetail>('cases.addItem', { id, role: 'NOTE', text: 'Wet road' });
    expect(withNote.log.at(-1)?.action).toBe('noted');
    await ask('cases.check', { id });
    await ask('cases.verify', { id }, 'second');
    expect(await refuse('cases.addItem', { id, role: 'NOTE', text: 'Late' })).toMatchObject({ status: 409 });
    await expect(gantry.pool.query('DELETE FROM case_items WHERE case_id = $1', [id])).rejects.toThrow(
      /not changed/,
    );
  });

  it.each([
    ['two things', { role: 'NOTE', text: 'x', eventId: randomUUID() }, 400],
    ['nothing', { role: 'CONTEXT' }, 400],
    ['a note with an image', { role: 'NOTE', image: image() }, 400],
    ['a file that is no image', { role: 'CONTEXT', image: 'SGVsbG8=' }, 400],
    [
      'a copy of something that is not there',
      { role: 'FIRST', image: image(), derivedFrom: randomUUID() },
      400,
    ],
    ['an event that does not exist', { role: 'CONTEXT', eventId: randomUUID() }, 404],
    ['an event whose id is none', { role: 'CONTEXT', eventId: "'; --" }, 404],
    ['a certificate', { role: 'CERTIFICATE', text: 'x' }, 400],
  ])('are not %s', async (_, input, status) => {
    const { id } = await openNew();
    expect((await refuse('cases.addItem', { id, ...input })).status).toBe(status);
  });

  it.each([
    // In the hours that clocks show twice, the first one is meant unless an offset says otherwise.
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25T02:30+01:00', '2026-10-25T01:30:00.000Z'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
    ['Pacific/Chatham', '2026-04-05T03:00', '2026-04-04T13:15:00.000Z'],
    ['Pacific/Chatham', '2026-04-05T03:00+12:45', '2026-04-04T14:15:00.000Z'],
    ['Pacific/Chatham', '2026-09-27T03:00', '2026-09-26T14:15:00.000Z'],
  ])('were taken when clocks in %s showed %s', async (timezone, capturedAt, wanted) => {
    const { id } = await openNew();
    const settings = 'system.timezone.updateTimezoneSettings';
    await ask(settings, { timezone }, 'ADMIN');
    const input = { id, role: 'OVERVIEW', image: image(), capturedAt };
    const { items } = await ask<CaseDetail>('cases.addItem', input).finally(() =>
      ask(settings, { timezone: 'UTC' }, 'ADMIN'),
    );
    expect(items.at(-1)).toMatchObject({ capturedAt: wanted });
  });

  it('are as far apart as they were taken while clocks were set back', async () => {
    const { id } = await openNew();
    const taken = async (capturedAt: string) => {
      const input = { id, role: 'CONTEXT', image: image(), capturedAt };
      return (await ask<CaseDetail>('cases.addItem', input)).items.at(-1)?.id;
    };
    const first = await taken('2026-10-25T02:59:59.800+02:00');
    const second = await taken('2026-10-25T02:00:00.200+01:00');
    const { lines } = await ask<CaseDetail>('cases.measure', { id, first, second, metres: 10 });
    expect(lines).toMatchObject({ intervalMs: 400, kmh: 90 });
  });

  it('are at most 50 events', async () => {
    const { id } = await openNew();
    await gantry.pool.query(
      `INSERT INTO case_items (case_id, role, event_id) SELECT $1, 'CONTEXT', gen_random_uuid() FROM generate_series(1, 49)`,
      [id],
    );
    expect(
      await refuse('cases.addItem', { id, role: 'CONTEXT', eventId: await speeding(certified) }),
    ).toMatchObject({
      status: 400,
      message: 'A case has at most 50 events, and would have 51',
    });
  });

  it('have images that only those see who verify cases', async () => {
    const { id } = await openNew();
    const { items } = await ask<CaseDetail>('cases.addItem', { id, role: 'OVERVIEW', image: image() });
    const get = (who: Who) =>
      gantry.fetch(items.at(-1)?.url ?? '', { headers: { authorization: `Bearer ${tokens[who]}` } });
    expect((await get('second')).status).toBe(200);
    expect((await get('VIEWER')).status).toBe(404);
  });
});

describe('the hold of a case', () => {
  const remove = (id: string) => refuse('events.delete', { id }, 'ADMIN');

  it('keeps its events until it is closed, and is released by nothing else', async () => {
    const { id, eventId, holdId, number } = await openNew();
    const other = await speeding(certified);
    await ask('cases.addItem', { id, role: 'CONTEXT', eventId: other });
    for (const each of [eventId ?? '', other])
      expect(await remove(each)).toMatchObject({
        status: 409,
        message: expect.stringContaining(`Case ${number}`),
      });
    expect(await refuse('storage.releaseHold', { id: holdId }, 'ADMIN')).toMatchObject({
      status: 409,
      message: expect.stringContaining('close the case'),
    });
    await ask('cases.reject', { id, code: 'UNREADABLE' });
    expect((await remove(other)).status).toBe(409);
    await ask('cases.close', { id });
    expect((await remove(other)).status).toBe(200);
    expect((await remove(eventId ?? '')).status).toBe(200);
    const after = await get(id);
    expect(after).toMatchObject({ closedAt: expect.anything(), licensePlateNumber: 'B AB 1234' });
    expect(after.items).toHaveLength(4);
  });

  it('does not end with the other hold of an event', async () => {
    const { id, eventId } = await openNew();
    const { id: holdId } = await ask<{ id: string }>(
      'storage.setHold',
      { eventIds: [eventId], reason: 'Court' },
      'ADMIN',
    );
    await ask('cases.reject', { id, code: 'UNREADABLE' });
    await ask('cases.close', { id });
    expect((await remove(eventId ?? '')).status).toBe(409);
    await ask('storage.releaseHold', { id: holdId }, 'ADMIN');
    expect((await remove(eventId ?? '')).status).toBe(200);
  });
});

describe('the log of a case', () => {
  it('cannot be changed or deleted, and neither can the case', async () => {
    const { id } = await openNew();
    for (const statement of [
      `UPDATE case_log SET action = 'verified' WHERE case_id = $1`,
      'DELETE FROM case_log WHERE case_id = $1',
      'DELETE FROM cases WHERE id = $1',
    ])
      await expect(gantry.pool.query(statement, [id])).rejects.toThrow(/never changed|not deleted/);
  });
});

/** Runs work as the owner of the tables, without what protects them. */
const asOwner = async (statements: readonly [string, unknown[]][]) => {
  const owner = new pg.Client({ connectionString: gantry.app.context.config.DATABASE_URL });
  await owner.connect();
  await owner.query('SET session_replication_role = replica');
  for (const [statement, values] of statements) await owner.query(statement, values);
  await owner.end();
};
const logIdsOf = async (caseId: string): Promise<string[]> =>
  (
    await gantry.pool.query('SELECT id::text FROM case_log WHERE case_id = $1 ORDER BY id', [caseId])
  ).rows.map(({ id }) => id);
const { db, config } = gantry.app.context;
const sealer = {
  ...{ db, key: await openSealingKey(config.DATA_DIR), mode: 'evidence' as const },
  folder: join(config.DATA_DIR, 'seals'),
};
const untilSealed = (ids: readonly string[]) =>
  eventually(
    async () => {
      // Null while the service makes seals.
      await sealNew(sealer, () => false);
      const { rowCount } = await gantry.pool.query(
        `SELECT FROM seals, unnest($1::bytea[]) AS id WHERE kind = 'CASE_LOG' AND position(id IN ids) > 0`,
        [ids.map((id) => bytesOfId('CASE_LOG', id))],
      );
      return rowCount;
    },
    (n) => n === ids.length,
  );
const faultsOfCases = async () =>
  (await checkSeals(db, { from: 1 })).faults.filter(({ kind }) => kind === 'CASE_LOG');

describe('seals', () => {
  it('find a changed entry of a log, even if its chain was made anew, and a removed one', async () => {
    const id = await inState('VERIFIED');
    const ids = await logIdsOf(id);
    await untilSealed(ids);
    expect(await faultsOfCases()).toEqual([]);
    const [first, , last] = ids;
    await asOwner([[`UPDATE case_log SET details = details || '{"reason": "x"}' WHERE id = $1`, [last]]]);
    expect(await faultsOfCases()).toMatchObject([{ fault: 'CHANGED', recordId: last }]);
    expect((await get(id)).logBrokenAt).toBe(3);
    await asOwner([
      [`UPDATE case_log SET details = details - 'reason' WHERE id = $1`, [last]],
      [`UPDATE case_log SET hash = sha256(hash) WHERE id = $1`, [first]],
    ]);
    expect(await faultsOfCases()).toMatchObject([{ fault: 'CHANGED', recordId: first }]);
    expect((await get(id)).logBrokenAt).toBe(1);
    await asOwner([['DELETE FROM case_log WHERE id = $1', [first]]]);
    expect(await faultsOfCases()).toMatchObject([{ fault: 'MISSING', recordId: first }]);
    // Nobody looks for it any more.
    await asOwner([['INSERT INTO removed_case_log (id) VALUES ($1)', [first]]]);
  });
});

describe('retention', () => {
  it('removes closed cases as a whole after their days, and nothing else', async () => {
    await ask('storage.setRetention', { cases: 30 }, 'ADMIN');
    expect(await ask('cases.getRules')).toMatchObject({ retentionDays: 30 });
    const [due, young, open] = [
      await inState('VERIFIED'),
      await inState('REJECTED'),
      await inState('REJECTED'),
    ];
    const withImage = { id: due, role: 'OVERVIEW', image: image() };
    expect((await refuse('cases.addItem', withImage)).status).toBe(409);
    for (const id of [due, young]) await ask('cases.close', { id });
    await untilSealed(await logIdsOf(due));
    await gantry.pool.query(`UPDATE cases SET closed_at = now() - interval '32 days' WHERE id = $1`, [due]);
    const { eventId } = await get(due);
    const { totals } = await ask<{ totals: { cases: number } }>('storage.previewRetention', {}, 'ADMIN');
    expect(totals.cases).toBe(1);
    const { id: runId } = await ask<{ id: string }>('storage.runRetention', {}, 'ADMIN');
    const run = await eventually(
      async () =>
        (
          await ask<{ runs: { id: string; status: string; removals: object[] }[] }>(
            'storage.getRetentionRuns',
            {},
            'ADMIN',
          )
        ).runs.find(({ id }) => id === runId),
      (found) => found?.status !== 'RUNNING',
    );
    expect(run).toMatchObject({ status: 'COMPLETED', removals: [{ class: 'cases', rows: 1 }] });
    expect((await refuse('cases.getById', { id: due })).status).toBe(404);
    expect(await get(young)).toMatchObject({ state: 'REJECTED' });
    expect(await get(open)).toMatchObject({ state: 'REJECTED' });
    expect(await ask('events.getById', { id: eventId })).toMatchObject({ id: eventId });
    // Seals blame nobody for it.
    expect(await faultsOfCases()).toEqual([]);
    await ask('cases.updateRules', { retentionDays: null }, 'ADMIN');
    expect(await ask('storage.getRetention', {}, 'ADMIN')).toMatchObject({ cases: null });
  });

  it('keeps the events and images of open cases, and the history of their sensors, whatever the rules say', async () => {
    const month = 35 * DAY;
    const site = await addSite();
    const eventId = await speeding(site, { timestamp: away(-month) });
    const other = await speeding(site, { timestamp: away(-month), licensePlateNumber: 'B AB 2' });
    const { id, items } = await ask<CaseDetail>('cases.open', { eventId });
    await ask('sensors.delete', { id: site.sensorId }, 'ADMIN');
    await gantry.pool.query(
      `UPDATE sensor_status_history SET at = at - interval '34 days' WHERE sensor_id = $1`,
      [site.sensorId],
    );
    const rules = { events: { default: 30, byType: {} }, images: 10, traffic: 30 };
    await ask('storage.setRetention', rules, 'ADMIN');
    const runOnce = async () => {
      const { id: runId } = await ask<{ id: string }>('storage.runRetention', {}, 'ADMIN');
      await eventually(
        async () =>
          (
            await ask<{ runs: { id: string; status: string }[] }>('storage.getRetentionRuns', {}, 'ADMIN')
          ).runs.find((run) => run.id === runId)?.status,
        (status) => status === 'COMPLETED',
      );
    };
    await runOnce();
    expect((await refuse('events.getById', { id: other })).status).toBe(404);
    expect(await ask('events.getById', { id: eventId })).toMatchObject({
      images: [expect.anything(), expect.anything()],
    });
    expect(checkOf(await get(id), 'SENSOR').result).toBe('PASS');
    await ask('cases.reject', { id, code: 'UNREADABLE' });
    await ask('cases.close', { id });
    await gantry.pool.query(`UPDATE images SET touched_at = now() - interval '2 hours'`);
    await runOnce();
    expect((await refuse('events.getById', { id: eventId })).status).toBe(404);
    expect(await gantry.count(`sensor_status_history WHERE sensor_id = '${site.sensorId}'`)).toBe(0);
    // The case still has its images.
    const shown = await fetch(`${gantry.url}${items[0]?.url}`, {
      headers: { authorization: `Bearer ${tokens.first}` },
    });
    expect(shown.status).toBe(200);
    const none = { events: { default: null, byType: {} }, images: null, traffic: null };
    await ask('storage.setRetention', none, 'ADMIN');
  });
});

describe('rules', () => {
  const rule = (input: object) => ask('cases.updateRules', input, 'ADMIN');
  const caseOf = async (eventId: string) =>
    (await gantry.pool.query('SELECT id, opened_by FROM cases WHERE event_id = $1', [eventId])).rows;

  it('open cases for confirmed events of a type, once', async () => {
    const type = `PHONE_${randomUUID().slice(0, 8)}`;
    await rule({ openFor: [type.toLowerCase()], openOn: 'CONFIRMED' });
    const eventId = await speeding(certified, { violationType: type });
    const unwanted = await speeding(certified);
    for (const id of [unwanted, eventId]) await ask('events.review', { id, decision: 'CONFIRMED' });
    await ask('events.review', { id: eventId, decision: 'CONFIRMED' }, 'second');
    const [found] = await eventually(
      () => caseOf(eventId),
      (rows) => rows.length === 1,
    );
    expect(found.opened_by).toBeNull();
    expect(await caseOf(unwanted)).toEqual([]);
    expect((await get(found.id)).log).toMatchObject([
      { action: 'opened', by: null, details: { confirmedBy: expect.anything() } },
    ]);
  });

  it.each([
    [
      'whose review is undone',
      [
        ['first', 'CONFIRMED'],
        ['first', 'undo'],
      ],
      null,
    ],
    [
      'that somebody else rejects',
      [
        ['first', 'CONFIRMED'],
        ['second', 'REJECTED'],
      ],
      null,
    ],
    [
      'that need a second look',
      [
        ['first', 'CONFIRMED'],
        ['second', 'SECOND_LOOK'],
      ],
      null,
    ],
    [
      'whose rejection is undone',
      [
        ['first', 'CONFIRMED'],
        ['second', 'REJECTED'],
        ['second', 'undo'],
      ],
      'First Tester',
    ],
  ] as const)('open no cases, or one again, for events %s before', async (_, decisions, confirmedBy) => {
    const type = `DOUBT_${randomUUID().slice(0, 8)}`;
    await rule({ openFor: [type], openOn: 'CONFIRMED' });
    const eventId = await speeding(certified, { violationType: type });
    const later = await speeding(certified, { violationType: type });
    // So that no case is opened yet.
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT pg_advisory_xact_lock($1)', [locks.holds]);
    const reviews: { [who: string]: string } = {};
    for (const [who, decision] of decisions) {
      if (decision === 'undo') await ask('events.undoReview', { id: reviews[who] }, who);
      else {
        const input = { id: eventId, decision, ...(decision === 'REJECTED' && { reason: 'OTHER' }) };
        reviews[who] = (await ask('events.review', input, who)).id;
      }
    }
    await ask('events.review', { id: later, decision: 'CONFIRMED' });
    await blocker.query('ROLLBACK');
    blocker.release();
    await eventually(
      () => caseOf(later),
      (rows) => rows.length === 1,
    );
    const [found] = await caseOf(eventId);
    if (confirmedBy === null) expect(found).toBeUndefined();
    else {
      const { log } = await get(found.id);
      const { firstBy } = await ask<CaseDetail>('cases.check', { id: found.id, reason: 'Seen' });
      expect(log[0]?.details.confirmedBy).toBe(firstBy?.id);
      expect(firstBy?.name).toBe(confirmedBy);
    }
  });

  it('open cases for events that arrive', async () => {
    const type = `LANE_${randomUUID().slice(0, 8)}`;
    await rule({ openFor: [type], openOn: 'ARRIVAL' });
    const sent: string[] = [];
    await eventually(
      async () => {
        // Processes hear of rules a moment later.
        sent.push(await speeding(certified, { violationType: type.toLowerCase() }));
        return (await Promise.all(sent.map(caseOf))).flat().length;
      },
      (opened) => opened > 0,
    );
    await rule({ openFor: [], openOn: 'CONFIRMED' });
  });

  it('are changed by administrators only, and say what is wrong', async () => {
    expect((await refuse('cases.updateRules', { openFor: ['X'] })).status).toBe(403);
    expect((await refuse('cases.updateRules', { retentionDays: 0 }, 'ADMIN')).status).toBe(400);
    expect((await refuse('cases.updateRules', { openFor: [''] }, 'ADMIN')).status).toBe(400);
  });
});

describe('cases', () => {
  it('are found by number, plate, type, code, state and sensor, in pages', async () => {
    const site = await addCertified();
    const plate = `X ${randomUUID().slice(0, 6)}`;
    const { id, number } = await openNew(site, { licensePlateNumber: plate });
    await ask('cases.reject', { id, code: 'EQUIPMENT' });
    await openNew(site);
    const list = async (filter: object) =>
      (await ask<{ cases: CaseSummary[]; total: number }>('cases.getAll', filter)).cases.map(
        (each) => each.id,
      );
    for (const filter of [
      { search: number },
      { search: plate.replace(' ', '-').toLowerCase() },
      { code: 'EQUIPMENT', sensorId: site.sensorId },
      { states: ['REJECTED'], sensorId: site.sensorId, violationType: 'speeding' },
    ])
      expect(await list(filter)).toEqual([id]);
    expect(await list({ sensorId: site.sensorId, sortBy: 'number', take: 1, skip: 1 })).toEqual([id]);
    expect(await list({ sensorId: 'none' })).toEqual([]);
    const stats = await ask<{ rows: { key: string; count: number; equipment: number }[] }>('cases.getStats', {
      by: 'sensor',
    });
    expect(stats.rows.find(({ key }) => key === site.sensorId)).toMatchObject({ count: 2, equipment: 1 });
  });

  it('are about hits and incidents too', async () => {
    const { id: incidentId } = await ask<{ id: string }>('incidents.create', {
      title: 'Crash',
      type: 'COLLISION',
      severity: 'HIGH',
    });
    const opened = await ask<CaseDetail>('cases.open', { incidentId });
    expect(opened).toMatchObject({ kind: 'INCIDENT', title: 'Crash', incidentId, eventId: null });
    expect(opened.checks.map(({ name }) => name)).toEqual(['IMAGES']);
    expect((await ask<CaseDetail>('cases.open', { incidentId })).id).toBe(opened.id);
  });

  it('are opened about the incident that has the events, not about one that was merged into it', async () => {
    const eventId = await speeding(certified);
    const crash = { title: 'Crash', type: 'COLLISION', severity: 'HIGH' };
    const [kept, known, merged] = await Promise.all(
      ['Kept', 'Known', 'Merged'].map((title) =>
        ask<{ id: string }>('incidents.create', {
          ...crash,
          title,
          ...(title === 'Merged' && { eventIds: [eventId] }),
        }),
      ),
    );
    const { id: caseId } = await ask<CaseDetail>('cases.open', { incidentId: known?.id });
    for (const from of [known, merged]) await ask('incidents.merge', { id: from?.id, into: kept?.id });
    expect(await refuse('cases.open', { incidentId: merged?.id })).toMatchObject({
      status: 409,
      message: `This incident was merged into “Kept” (${kept?.id}): open a case about that one`,
    });
    expect(await ask<CaseDetail>('cases.open', { incidentId: known?.id })).toMatchObject({ id: caseId });
    expect(await ask<CaseDetail>('cases.open', { incidentId: kept?.id })).toMatchObject({ eventId });
  });

  it.each([
    ['nothing', {}, 400],
    ['two subjects', { eventId: randomUUID(), hitId: randomUUID() }, 400],
    ['an unknown event', { eventId: randomUUID() }, 404],
    ['an unknown incident', { incidentId: 'x' }, 404],
    ['an unknown hit', { hitId: randomUUID() }, 404],
  ])('are not opened about %s', async (_, input, status) => {
    expect((await refuse('cases.open', input)).status).toBe(status);
  });

  it('are opened once if many open them at the same time, under numbers without a gap', async () => {
    const last = async () =>
      Number((await gantry.pool.query('SELECT last FROM case_numbers ORDER BY year')).rows[0].last);
    const eventIds = [await speeding(certified), await speeding(certified)];
    const before = await last();
    const opened = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((n) => ask<CaseDetail>('cases.open', { eventId: eventIds[n % 2] })),
    );
    const numbers = new Set(opened.map(({ number }) => Number(number.slice(5))));
    expect([...numbers].sort()).toEqual([before + 1, before + 2]);
    expect(await last()).toBe(before + 2);
  });

  it('have numbers of the year in which they are opened where the service is', async () => {
    // The clock of the database, in transactions that look here first.
    await gantry.pool.query(`CREATE SCHEMA at_new_year`);
    await gantry.pool.query(`CREATE FUNCTION at_new_year.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT current_setting('gantry.now')::timestamptz $$`);
    const { settings, outbox } = gantry.app.context;
    const openAt = async (timezone: string, at: string): Promise<string> => {
      const eventId = await speeding(certified, { images: [] });
      const own = { ...settings, current: () => ({ ...settings.current(), timezone }) };
      await inTransaction(db, async (tx) => {
        await tx.execute('SET LOCAL search_path = at_new_year, public, pg_catalog');
        await tx.execute(`SET LOCAL gantry.now = '${at}'`);
        await lockOutRemovals(tx);
        expect(await openForEvent({ settings: own, outbox }, tx, eventId, null)).toBe(true);
      });
      const { rows } = await gantry.pool.query('SELECT number FROM cases WHERE event_id = $1', [eventId]);
      return rows[0].number;
    };
    for (const [timezone, at, number] of [
      ['UTC', '2035-12-31T23:59:59.999Z', '2035-000001'],
      ['UTC', '2036-01-01T00:00:00Z', '2036-000001'],
      ['Europe/Berlin', '2035-12-31T22:59:59.999Z', '2035-000002'],
      ['Europe/Berlin', '2035-12-31T23:00:00Z', '2036-000002'],
      ['Pacific/Chatham', '2035-12-31T10:14:59.999Z', '2035-000003'],
      ['Pacific/Chatham', '2035-12-31T10:15:00Z', '2036-000003'],
      ['Pacific/Pago_Pago', '2036-01-01T10:59:59.999Z', '2035-000004'],
      ['Pacific/Pago_Pago', '2036-01-01T11:00:00Z', '2036-000004'],
    ] as const)
      expect([timezone, at, await openAt(timezone, at)]).toEqual([timezone, at, number]);
  });

  it('are searched for a plate on record, and with the reason', async () => {
    const plate = `Y ${randomUUID().slice(0, 6)}`;
    const { number } = await openNew(certified, { licensePlateNumber: plate });
    await ask('cases.getAll', { search: plate, reason: 'Case 17' }, 'second');
    await ask('cases.getAll', { search: number }, 'second');
    const { activities } = await ask<{ activities: { details: object }[] }>(
      'users.getActivityLog',
      { action: 'events.lookUpPlate', about: plate },
      'ADMIN',
    );
    expect(activities).toMatchObject([{ details: { plate, reason: 'Case 17', total: 1 } }]);
  });

  it('are streamed as they change, with one by number', async () => {
    const { id, number } = await openNew();
    const stream = await openStream(gantry.url, 'cases.onChanged', {
      token: tokens.second,
      input: { id: number },
    });
    await openNew();
    await ask('cases.check', { id });
    const changes = await eventually(
      async () => stream.messages.filter(({ data }) => data.type === 'change'),
      (found) => found.length === 1,
    );
    expect(JSON.stringify(changes)).toContain('"checked"');
    stream.close();
  });

  it('are at most 10,000 that are open, which rules wait for', async () => {
    const type = `QUEUE_${randomUUID().slice(0, 8)}`;
    await ask('cases.updateRules', { openFor: [type], openOn: 'CONFIRMED' }, 'ADMIN');
    const [eventId, confirmed] = [
      await speeding(certified),
      await speeding(certified, { violationType: type }),
    ];
    await gantry.pool.query(
      `INSERT INTO cases (number, kind, title, happened_at, needs_second)
       SELECT '1999-' || lpad(n::text, 6, '0'), 'VIOLATION', 'x', now(), true
       FROM generate_series(1, 10000 - (SELECT count(*)::int FROM cases WHERE closed_at IS NULL)) AS n`,
    );
    expect(await refuse('cases.open', { eventId })).toMatchObject({
      status: 400,
      message: '10000 cases are open: close some of them first',
    });
    await ask('events.review', { id: confirmed, decision: 'CONFIRMED' });
    const { rows } = await gantry.pool.query('SELECT clock_timestamp() AS at');
    await asOwner([[`DELETE FROM cases WHERE number LIKE '1999-%'`, []]]);
    await eventually(
      () =>
        gantry.pool.query('SELECT FROM cases WHERE event_id = $1 AND opened_at >= $2', [
          confirmed,
          rows[0].at,
        ]),
      ({ rowCount }) => rowCount === 1,
    );
    await ask('cases.updateRules', { openFor: [] }, 'ADMIN');
  });

  it('count in the health of their sensors when equipment was the reason', async () => {
    const site = await addSite();
    for (const code of ['EQUIPMENT', 'EQUIPMENT', 'UNREADABLE']) {
      const { id } = await openNew(site);
      await ask('cases.reject', { id, code });
    }
    const { id } = await ask<{ id: string }>('reports.generate', {
      ...{ kind: 'SENSOR_HEALTH', format: 'CSV', filters: { sensorId: site.sensorId } },
      ...{ startDate: away(-DAY), endDate: away(DAY) },
    });
    await eventually(
      () => ask<{ status: string }>('reports.getById', { id }),
      ({ status }) => status === 'DONE',
    );
    const authorization = `Bearer ${tokens.first}`;
    const text = await (
      await fetch(`${gantry.url}/reports/${id}/file`, { headers: { authorization } })
    ).text();
    const [header = '', first = ''] = text.replace(/^\uFEFF/, '').split('\n');
    expect(first.split(',').at(-1)?.trim()).toBe('2');
    expect(header.split(',').at(-1)?.trim()).toBe('Rejected cases');
  });

  it('are those of nobody without the permission', async () => {
    expect((await refuse('cases.getAll', {}, 'VIEWER')).status).toBe(403);
  });
});
