import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventProof, SealMode, SealStatus } from '@gantry/contract/evidence';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { checkCheckpoints, checkOfTheNight, checkSeals } from '../src/evidence/check.ts';
import { bytesOfId, idOfBytes } from '../src/evidence/records-store.ts';
import { type SealerParts, sealLate, sealNew } from '../src/evidence/sealer.ts';
import { canonicalText, openSealingKey } from '../src/evidence/seals.ts';
import { readCheck } from '../src/evidence/store.ts';
import { leafOf, pathOf, rootAlong, rootOf } from '../src/evidence/tree.ts';
import { eventually, sharedGantry } from './harness.ts';

const gantry = await sharedGantry({ overrides: { timings: { evaluateAlarmsMs: 100 } } });
const { db } = gantry.app.context;
const admin = await gantry.tokenFor('ADMIN');
const owner = new pg.Client({ connectionString: gantry.app.context.config.DATABASE_URL });
await owner.connect();
afterAll(() => owner.end());

const folder = await mkdtemp(join(tmpdir(), 'gantry-seals-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const partsWith = async (dataDir: string, mode: SealMode = 'evidence'): Promise<SealerParts> => ({
  db,
  mode,
  key: await openSealingKey(dataDir),
  folder: join(folder, 'checkpoints'),
});
const parts = await partsWith(folder);
const never = () => false;
const sealAll = (given = parts) => sealNew(given, never);
const faults = async () => (await checkSeals(db, { from: 1 })).faults;

const { apiKey } = await gantry.ok<{ apiKey: string }>(
  'sensors.create',
  { name: 'Camera', deviceId: 'camera-1', type: 'CAMERA', locationName: 'Bridge' },
  { token: admin },
);
const ingest = async (event: object) =>
  (await gantry.ok<{ eventId: string }>('events.ingest', { apiKey, ...event })).eventId;
const violation = (plate: string) =>
  ingest({
    eventType: 'TRAFFIC_VIOLATION',
    violationType: 'RED_LIGHT',
    licensePlateNumber: plate,
    vehicleSpeed: 61.3,
  });
const prove = (eventId: string) => gantry.ok<EventProof>('evidence.getProof', { eventId }, { token: admin });

/** Runs work after somebody who owns the tables has changed one row, and puts the row back. */
const tampered = async (
  table: 'events' | 'seals',
  key: string,
  change: string,
  work: () => Promise<void>,
) => {
  const name = table === 'events' ? 'id' : 'seq';
  const as = async (statement: string, values: unknown[] = []) => {
    await owner.query('SET session_replication_role = replica');
    await owner.query(statement, values).finally(() => owner.query('SET session_replication_role = origin'));
  };
  const { rows } = await owner.query(
    `SELECT to_jsonb(t) - 'location_key' AS row FROM ${table} AS t WHERE ${name} = $1`,
    [key],
  );
  await as(
    change === 'DELETE'
      ? `DELETE FROM ${table} WHERE ${name} = $1`
      : `UPDATE ${table} SET ${change} WHERE ${name} = $1`,
    [key],
  );
  try {
    await work();
  } finally {
    const names = Object.keys(rows[0].row);
    await as(`DELETE FROM ${table} WHERE ${name} = $1`, [key]);
    await as(
      `INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_populate_record(NULL::${table}, $1)`,
      [rows[0].row],
    );
  }
  expect(await faults()).toEqual([]);
};

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

describe('the tree', () => {
  it.each([1, 2, 3, 7, 8, 9, 100])('leads from each of %i leaves to its root', (count) => {
    const leaves = Array.from({ length: count }, (_, at) => leafOf(`record ${at}`));
    const root = rootOf(leaves);
    for (const [at, leaf] of leaves.entries()) {
      const path = pathOf(leaves, at);
      expect(rootAlong(leaf, at, count, path)).toEqual(root);
      expect(rootAlong(leafOf('another'), at, count, path)).not.toEqual(root);
      expect(rootAlong(leaf, at, count, [...path, root])).not.toEqual(root);
      if (path.length > 0) expect(rootAlong(leaf, at, count, path.slice(1))).toBeNull();
    }
  });

  it('has the roots of the vectors of RFC 6962', () => {
    // From the tests of the reference implementation of certificate transparency.
    const data = [
      '',
      '00',
      '10',
      '2021',
      '3031',
      '40414243',
      '5051525354555657',
      '606162636465666768696a6b6c6d6e6f',
    ];
    const leaves = data.map((hex) => sha256(Buffer.concat([Buffer.of(0), Buffer.from(hex, 'hex')])));
    const roots = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => rootOf(leaves.slice(0, n)).toString('hex'));
    expect(roots[0]).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d');
    expect(roots[7]).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328');
  });
});

describe('ids in seals', () => {
  it.each([
    ['EVENT', '019a1b2c-3d4e-7f50-8a9b-0c1d2e3f4a5b'],
    ['KEY', '00112233445566778899aabbccddeeff'],
    ['ACTIVITY', '9007199254740991'],
    ['LOG', '1'],
  ] as const)('of %s keep %s', (kind, id) => {
    expect(idOfBytes(kind, bytesOfId(kind, id))).toBe(id);
  });
});

describe('seals', () => {
  it('prove an event to those who only have the answer', async () => {
    const eventId = await violation('PROVE1');
    expect(await prove(eventId)).toMatchObject({ state: 'WAITING', proof: null });
    await sealAll();
    const { state, record, proof } = await prove(eventId);
    expect(state).toBe('PROVEN');
    expect(JSON.parse(record ?? '')).toMatchObject({
      ...{ record: 'EVENT', id: eventId, plate: 'PROVE1', violationType: 'RED_LIGHT', vehicleSpeed: 61.3 },
      sensorName: 'Camera',
    });
    expect(canonicalText(JSON.parse(record ?? ''))).toBe(record);

    // By the words of the documents, without code of the service.
    const { leaf, index, path, seal, key } = proof ?? expect.fail('no proof');
    expect(sha256(Buffer.concat([Buffer.of(0), Buffer.from(record ?? '')])).toString('hex')).toBe(leaf);
    const hashes = path.map((hex) => Buffer.from(hex, 'hex'));
    expect(rootAlong(Buffer.from(leaf, 'hex'), index, seal.count, hashes)?.toString('hex')).toBe(seal.root);
    expect(JSON.parse(seal.text)).toEqual({
      ...{ seq: seal.seq, kind: 'EVENT', madeAt: new Date(seal.madeAt).toISOString(), count: seal.count },
      ...{ root: seal.root, previous: seal.previous, keyId: key.id },
    });
    expect(sha256(Buffer.from(seal.text)).toString('hex')).toBe(seal.hash);
    const publicKey = createPublicKey(key.publicKey);
    expect(verify(null, Buffer.from(seal.text), publicKey, Buffer.from(seal.signature, 'base64'))).toBe(true);
    expect(
      sha256(publicKey.export({ format: 'der', type: 'spki' }))
        .toString('hex')
        .slice(0, 32),
    ).toBe(key.id);
  });

  it('leave out what is no evidence, and take it once it is a hit', async () => {
    const eventId = await ingest({ eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'LATEHIT' });
    await sealAll();
    await owner.query(
      `INSERT INTO watchlist_alerts (entry_id, pattern, reason, priority, event_id, plate, read_at)
       VALUES (gen_random_uuid(), 'LATEHIT', 'Stolen', 4, $1, 'LATEHIT', now())`,
      [eventId],
    );
    await sealAll();
    expect(await prove(eventId)).toMatchObject({ state: 'PROVEN' });
  });

  it('take all events if they are told to', async () => {
    const eventId = await ingest({ eventType: 'VEHICLE_DETECTION' });
    await sealAll();
    expect((await prove(eventId)).proof).toBeNull();
    await sealAll(await partsWith(folder, 'all'));
    expect(await prove(eventId)).toMatchObject({ state: 'PROVEN' });
  });

  it('take each record once, also if two make them at the same time', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, at) => violation(`ONCE${at}`)));
    await Promise.all([sealAll(), sealAll(), sealAll()]);
    await sealAll();
    const { rows } = await owner.query(`
      SELECT kind, id, count(*) FROM seals, generate_series(0, length(ids) / 16 - 1) AS at,
        substr(ids, at * 16 + 1, 16) AS id GROUP BY 1, 2 HAVING count(*) > 1`);
    expect(rows).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  it('take what a long transaction wrote', async () => {
    await owner.query('BEGIN');
    const { rows } = await owner.query(
      `INSERT INTO activity (user_id, action, at) VALUES (gen_random_uuid(), 'auth.login', now() - interval '20 minutes') RETURNING id`,
    );
    await sealAll();
    await owner.query('COMMIT');
    await sealAll();
    const sealed = async () =>
      (
        await owner.query(
          `SELECT seq FROM seals WHERE kind = 'ACTIVITY' AND position($1::bytea IN ids) > 0`,
          [bytesOfId('ACTIVITY', rows[0].id)],
        )
      ).rowCount;
    expect(await sealed()).toBe(0);
    const now = Date.now();
    expect(await sealLate(parts, { from: now - 3_600_000, until: now }, never)).toBe(1);
    expect(await sealed()).toBe(1);
    expect(await sealLate(parts, { from: now - 3_600_000, until: now }, never)).toBe(0);
  });

  it('take what was written after the clock was set back', async () => {
    await owner.query(`UPDATE seal_progress SET sealed_until = now() + interval '1 year'`);
    const eventId = await violation('SETBACK');
    await sealAll();
    expect((await prove(eventId)).state).toBe('PROVEN');
    await violation('SETBACK 2');
    expect(await sealAll()).toBeGreaterThan(0);
    expect(await faults()).toEqual([]);
  });

  it('follow a new key, which names the one before', async () => {
    const other = await mkdtemp(join(tmpdir(), 'gantry-key-'));
    await violation('NEWKEY');
    const renewed = await partsWith(other);
    await sealAll(renewed);
    const { keys } = await gantry.ok<SealStatus>('evidence.getStatus', {}, { token: admin });
    expect(keys.at(-1)).toMatchObject({ id: renewed.key.id, replaces: parts.key.id });
    expect(await faults()).toEqual([]);
    await rm(other, { recursive: true });
    const known = (await (await fetch(`${gantry.url}/.well-known/gantry-seal.json`)).json()) as SealStatus;
    expect(known.keys.map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
    expect(known.latest?.keyId).toBe(renewed.key.id);
  });

  it.each([
    ['damaged', '-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n'],
    ['no key', 'x'],
    [
      'a key of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ format: 'pem', type: 'pkcs8' })
        .toString(),
    ],
  ])('are not made with a key file that is %s, and the error names it', async (_, content) => {
    const other = await mkdtemp(join(tmpdir(), 'gantry-key-'));
    await writeFile(join(other, 'seal-key'), content);
    await expect(openSealingKey(other)).rejects.toThrow(
      `${join(other, 'seal-key')} is not an Ed25519 private key in PEM: restore it`,
    );
    expect(await readFile(join(other, 'seal-key'), 'utf8')).toBe(content);
    await rm(other, { recursive: true });
  });

  it('are not changed or removed, even by the owner of the table', async () => {
    for (const statement of [
      'UPDATE seals SET root = previous',
      'DELETE FROM seals',
      'DELETE FROM seal_keys',
      'UPDATE seal_keys SET replaces = NULL',
    ])
      await expect(owner.query(statement)).rejects.toThrow('never changed or deleted');
  });
});

const eventId = await violation('CHECKED');
await gantry.ok('log.add', { text: 'Lane closed' }, { token: admin });
await sealAll();
const seq = (await prove(eventId)).proof?.seal.seq ?? 0;

describe('the check', () => {
  it.each([
    ['the plate', `plate = 'OTHER'`, 'CHANGED'],
    ['the speed', 'vehicle_speed = 61.4', 'CHANGED'],
    ['the place', `location_name = 'Tunnel'`, 'CHANGED'],
    ['a field that was empty', `description = 'x'`, 'CHANGED'],
    ['metadata', `metadata = '{"lane":null}'`, 'CHANGED'],
    ['its time of arrival', `created_at = created_at - interval '1 ms'`, 'CHANGED'],
    ['a removed event', 'DELETE', 'MISSING'],
  ])('finds %s', async (_, change, fault) => {
    await tampered('events', eventId, change, async () => {
      expect(await faults()).toEqual([{ fault, seq, kind: 'EVENT', recordId: eventId }]);
      if (fault === 'CHANGED' && !change.startsWith('created_at'))
        expect(await prove(eventId)).toMatchObject({ state: 'CHANGED' });
    });
  });

  it.each([
    ['a root', 'root = sha256(root)', ['TEXT', 'ROOT', 'SIGNATURE']],
    ['a leaf', 'leaves = set_byte(leaves, 0, (get_byte(leaves, 0) + 1) % 256)', ['ROOT', 'CHANGED']],
    ['a hash', 'hash = sha256(hash)', ['TEXT', 'CHAIN']],
    ['a signature', 'signature = set_byte(signature, 0, (get_byte(signature, 0) + 1) % 256)', ['SIGNATURE']],
    ['its time', `made_at = made_at + interval '1 ms'`, ['TEXT', 'SIGNATURE']],
    ['its key', `key_id = 'ff'`, ['TEXT', 'KEY']],
  ])('finds %s of a seal that was changed', async (_, change, expected) => {
    await tampered('seals', String(seq), change, async () => {
      expect((await faults()).map(({ fault }) => fault)).toEqual(expected);
    });
  });

  it('does not blame those who may remove events', async () => {
    const removed = await violation('REMOVED');
    await sealAll();
    await gantry.ok('events.delete', { id: removed }, { token: admin });
    expect(await faults()).toEqual([]);
  });

  it('does not blame retention for what it removed, and those who claim it', async () => {
    const due = await violation('RETAINED');
    await sealAll();
    const month = `${new Date().toISOString().slice(0, 8)}01`;
    const remove = async (until: string) => {
      const { rows } = await owner.query(
        `INSERT INTO retention_runs (status) VALUES ('COMPLETED') RETURNING id`,
      );
      await owner.query(
        `INSERT INTO retention_removals (run_id, class, event_type, month, rows, until) VALUES ($1, 'events', 'TRAFFIC_VIOLATION', $2, 1, $3)`,
        [rows[0].id, month, until],
      );
    };
    await owner.query('DELETE FROM events WHERE id = $1', [due]);
    // Only what was reported before then was due.
    await remove(new Date(Date.now() - 3_600_000).toISOString());
    expect(await faults()).toMatchObject([{ fault: 'MISSING', recordId: due }]);
    await remove(new Date(Date.now() + 3_600_000).toISOString());
    expect(await faults()).toEqual([]);
  });

  it('finds checkpoints of another chain', async () => {
    const [name = ''] = await readdir(parts.folder);
    const path = join(parts.folder, name);
    expect(await checkCheckpoints(db, parts.folder)).toEqual([]);
    const text = await readFile(path, 'utf8');
    const noted = JSON.parse(text);
    noted.seal.hash = '00'.repeat(32);
    for (const content of [JSON.stringify(noted), text.slice(0, 100)]) {
      await writeFile(path, content);
      expect(await checkCheckpoints(db, parts.folder)).toMatchObject([
        { fault: 'CHECKPOINT', recordId: name },
      ]);
    }
    await writeFile(path, text);
  });

  it('of the night remembers what differs until it is right again, and an alarm can be raised for it', async () => {
    await tampered('events', eventId, `plate = 'OTHER'`, async () => {
      expect(await checkOfTheNight(parts, Date.now(), never)).toBe(1);
      const status = () => gantry.ok<SealStatus>('evidence.getStatus', {}, { token: admin });
      expect((await status()).check?.faults).toEqual([
        { fault: 'CHANGED', seq, kind: 'EVENT', recordId: eventId },
      ]);
      await gantry.ok(
        'alarmRules.create',
        { name: 'Seals', severity: 'CRITICAL', condition: { source: 'SYSTEM', part: 'SEAL' } },
        { token: admin },
      );
      await eventually(
        () => gantry.ok<{ alarms: object[] }>('alarms.getAll', {}, { token: admin }),
        ({ alarms }) => alarms.length > 0,
      );
      // Checked again, although it is no longer one of the last day's.
      expect(await checkOfTheNight(parts, Date.now() + 3 * 86_400_000, never)).toBe(1);
    });
    expect(await checkOfTheNight(parts, Date.now() + 3 * 86_400_000, never)).toBe(0);
    expect((await readCheck(db)).faults).toEqual([]);
  });

  it('finds a seal that is missing', async () => {
    const { seals: all } = await checkSeals(db, { from: 1 });
    await tampered('seals', String(seq), 'DELETE', async () => {
      expect(await faults()).toMatchObject([{ fault: 'GAP', seq }]);
      expect((await checkSeals(db, { from: 1 })).seals).toBe(all - 1);
    });
  });
});
