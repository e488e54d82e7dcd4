import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hotlist, type HotlistImport, MAX_HOTLIST_FILE_BYTES } from '@gantry/contract/hotlists';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSources, type SourceParts } from '../src/hotlists/sources.ts';
import { findHotlistTroubles } from '../src/hotlists/store.ts';
import { certificatesIn, hasOpenssl } from './certificates.ts';
import { collectGarbage } from './collect-garbage.ts';
import { eventually, type Gantry, sharedGantry, startGantry } from './harness.ts';

type Respond = (response: ServerResponse, headers: IncomingHttpHeaders, path: string) => void;
let respond: Respond = (response) => response.end();
let received = 0;
const server = createServer((request, response) => {
  received++;
  respond(response, request.headers, request.url ?? '');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const host = `localhost:${(server.address() as AddressInfo).port}`;

const gantry = await sharedGantry({
  config: { WEBHOOK_ALLOW_HOSTS: host },
  overrides: { timings: { sweepHotlistJobsMs: 50, sweepHotlistsMs: 100, hotlistUrlMs: 3_000 } },
});
const token = await gantry.tokenFor('OPERATOR');
const ok = <Output>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
let count = 0;
const createList = (fields: object = {}) =>
  ok<Hotlist>('hotlists.create', { name: `List ${++count}`, ...fields });

/** What a process reads sources with, until it is about to end. */
const partsOf = ({ app: { context } }: Gantry, ending = new AbortController().signal): SourceParts => ({
  ...context,
  files: context.hotlistFiles,
  rules: context.webhookUrls,
  ending,
});

const publicKeyOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const [signer, stranger] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const signed = (content: string, { privateKey } = signer): Buffer =>
  sign(null, Buffer.from(content), privateKey);

describe('a list with a source', () => {
  it('takes files from its folder, one after another, and none with a wrong checksum', async () => {
    const { id } = await createList({ source: { type: 'FOLDER' } });
    const inbox = gantry.app.context.hotlistFiles.inboxOf(id);
    await mkdir(inbox, { recursive: true });
    await writeFile(join(inbox, 'bad.csv.sha256'), `${'0'.repeat(64)}  bad.csv`);
    await writeFile(join(inbox, 'bad.csv'), 'plate\nFO 1\n');
    const state = () => ok<Hotlist>('hotlists.getById', { id });
    await eventually(state, ({ sourceProblem }) => sourceProblem !== null);
    expect((await state()).sourceProblem).toContain('bad.csv does not have the checksum');
    expect(await findHotlistTroubles(gantry.app.context.db, Date.now())).toContainEqual(
      expect.objectContaining({ hotlistId: id, trouble: 'SOURCE' }),
    );
    await writeFile(join(inbox, 'good.csv.part'), 'plate\nFO 1\nFO 2\n');
    await rename(join(inbox, 'good.csv.part'), join(inbox, 'good.csv'));
    expect(await eventually(state, ({ version }) => version === 1)).toMatchObject({ entryCount: 2 });
    await eventually(state, ({ sourceProblem }) => sourceProblem === null);
    await writeFile(join(inbox, 'next.csv'), 'plate\n');
    await eventually(
      () => ok<{ imports: { state: string }[] }>('hotlists.getImports', { id }),
      ({ imports }) => imports[0]?.state === 'REFUSED',
    );
    expect(await state()).toMatchObject({ version: 1, entryCount: 2 });
    expect(await findHotlistTroubles(gantry.app.context.db, Date.now())).toContainEqual(
      expect.objectContaining({ hotlistId: id, trouble: 'REFUSED', detail: 'The file has no valid line' }),
    );
    await ok('hotlists.update', { id, staleAfterHours: 1 });
    const later = Date.now() + 2 * 3_600_000;
    expect(await findHotlistTroubles(gantry.app.context.db, later)).toContainEqual(
      expect.objectContaining({ hotlistId: id, trouble: 'STALE' }),
    );
  });

  it('takes what it can read beside what it cannot, and says what is wrong with that while it is there', async () => {
    const { id } = await createList({ source: { type: 'FOLDER' } });
    const inbox = gantry.app.context.hotlistFiles.inboxOf(id);
    await mkdir(inbox, { recursive: true });
    const state = () => ok<Hotlist>('hotlists.getById', { id });
    const folder = Buffer.from(`${inbox}/`);
    const wrong: [Buffer | string, (path: Buffer) => unknown, string][] = [
      ['a folder.csv', (path) => mkdir(path), 'a folder.csv is no file'],
      ['a pipe.csv', (path) => execFileSync('mkfifo', [path.toString()]), 'a pipe.csv is no file'],
      ['empty.csv', (path) => writeFile(path, ''), 'empty.csv is empty'],
      [
        Buffer.from('M\xe4rz.csv', 'latin1'),
        (path) => writeFile(path, 'plate\nFW 0\n'),
        'is not text in UTF-8',
      ],
      [`${'x'.repeat(245)}.csv`, (path) => writeFile(path, 'plate\nFW 0\n'), 'is longer than 240 bytes'],
    ];
    let version = 0;
    for (const [name, make, problem] of wrong) {
      const path = Buffer.concat([folder, Buffer.from(name)]);
      await make(path);
      await eventually(state, ({ sourceProblem }) => sourceProblem?.includes(problem) === true);
      await writeFile(join(inbox, '.good'), `plate\nFW ${++version}\n`);
      await rename(join(inbox, '.good'), join(inbox, 'good.csv'));
      const { sourceProblem } = await eventually(state, (list) => list.version === version);
      expect(sourceProblem).toContain(problem);
      await rm(path, { recursive: true });
      await eventually(state, (list) => list.sourceProblem === null);
    }
  });

  it('says that it discarded a file until the next one comes', async () => {
    const { id } = await createList({ source: { type: 'FOLDER' } });
    const inbox = gantry.app.context.hotlistFiles.inboxOf(id);
    await mkdir(inbox, { recursive: true });
    const state = () => ok<Hotlist>('hotlists.getById', { id });
    await writeFile(join(inbox, 'bad.csv.sha256'), '0'.repeat(64));
    await writeFile(join(inbox, 'bad.csv'), 'plate\nFD 1\n');
    await eventually(state, ({ sourceProblem }) => sourceProblem !== null);
    for (let n = 0; n < 2; n++) await readSources(partsOf(gantry));
    expect((await state()).sourceProblem).toContain('bad.csv does not have the checksum');
  });

  it('takes a file again that a process had taken and did not import', async () => {
    const { id } = await createList({ source: { type: 'FOLDER' } });
    const inbox = gantry.app.context.hotlistFiles.inboxOf(id);
    await mkdir(inbox, { recursive: true });
    await writeFile(join(inbox, '.left.csv.taken'), 'plate\nFL 1\n');
    const look = (now: number) => readSources({ ...partsOf(gantry), clock: { now: () => now } });
    await look(Date.now());
    expect(await readdir(inbox)).toEqual(['.left.csv.taken']);
    await look(Date.now() + 700_000);
    const { version } = await eventually(
      () => ok<Hotlist>('hotlists.getById', { id }),
      (list) => list.version === 1,
    );
    expect([version, await readdir(inbox)]).toEqual([1, []]);
  });

  it('takes only files that its key signed, and others by hand with a reason', async () => {
    const publicKey = publicKeyOf(signer.publicKey);
    const { id } = await createList({ source: { type: 'FOLDER', publicKey } });
    const inbox = gantry.app.context.hotlistFiles.inboxOf(id);
    await mkdir(inbox, { recursive: true });
    const state = () => ok<Hotlist>('hotlists.getById', { id });
    let puts = 0;
    const put = async (content: string, signature?: Buffer | string): Promise<HotlistImport> => {
      const name = `list${++puts}.csv`;
      if (signature !== undefined) await writeFile(join(inbox, `${name}.sig`), signature);
      await writeFile(join(inbox, `.${name}`), content);
      await rename(join(inbox, `.${name}`), join(inbox, name));
      const found = await eventually(
        async () =>
          (await ok<{ imports: HotlistImport[] }>('hotlists.getImports', { id })).imports.find(
            ({ fileName }) => fileName === name,
          ),
        (made) => made !== undefined && made.state !== 'STAGING' && made.state !== 'APPLYING',
      );
      return found as HotlistImport;
    };
    const list = 'plate\nSI 1\nSI 2\n';
    expect(await put(list, signed(list))).toMatchObject({ state: 'APPLIED', version: 1 });
    const next = `${list}SI 3\n`;
    const refusals: [Buffer | string | undefined, string][] = [
      [undefined, 'The file is not signed: there is no list2.csv.sig'],
      ['not a signature', 'list3.csv.sig is no Ed25519 signature: 64 bytes, or their base64'],
      [Buffer.alloc(2_000), 'list4.csv.sig is no Ed25519 signature'],
      [signed(next, stranger), 'The signature is not that of this file with the key of the list'],
      [signed(list), 'The signature is not that of this file'],
    ];
    const refusedFiles = await Promise.all(refusals.map(([signature]) => put(next, signature)));
    for (const [n, [, error]] of refusals.entries())
      expect(refusedFiles[n]).toMatchObject({
        state: 'REFUSED',
        error: expect.stringContaining(error),
        added: 1,
      });
    // Also the file that is in force.
    expect(await put(list)).toMatchObject({ state: 'REFUSED', same: 2 });
    expect(await state()).toMatchObject({ version: 1, entryCount: 2 });
    expect(await findHotlistTroubles(gantry.app.context.db, Date.now())).toContainEqual(
      expect.objectContaining({
        hotlistId: id,
        trouble: 'REFUSED',
        detail: 'The file is not signed: there is no list7.csv.sig',
      }),
    );
    const refused = await put(next);
    await ok('hotlists.applyImport', { id: refused.id, expectedVersion: 1, override: 'Checked by phone' });
    expect(await eventually(state, ({ version }) => version === 2)).toMatchObject({ entryCount: 3 });

    const raw = signer.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
    await ok('hotlists.update', { id, source: { type: 'FOLDER', publicKey: raw } });
    const last = `${next}SI 4\n`;
    expect(await put(last, `${signed(last).toString('base64')}\n`)).toMatchObject({
      state: 'APPLIED',
      version: 3,
    });
    expect(await readdir(inbox)).toEqual([]);
  });

  it('refuses what is no public key of Ed25519', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const secret = signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const publicKey of ['key', 'AAAA', publicKeyOf(rsa.publicKey), secret])
      expect(
        await gantry.refusal(
          'hotlists.create',
          { name: 'Keys', source: { type: 'FOLDER', publicKey } },
          { token },
        ),
      ).toMatchObject({ status: 400, message: expect.stringContaining('Use an Ed25519 public key') });
    const onOneLine = publicKeyOf(signer.publicKey).replaceAll('\n', ' ');
    expect(await createList({ source: { type: 'FOLDER', publicKey: onOneLine } })).toMatchObject({
      source: { publicKey: onOneLine.trim() },
    });
  });

  it('refuses addresses without https, and those of the own network', async () => {
    const url = (address: string) =>
      createList({ source: { type: 'URL', url: address } }).then(() => 'created', String);
    expect(await url('http://example.org/list.csv')).toContain('Use an address with https');
    expect(await url('https://127.0.0.1/list.csv')).toContain('not on the public internet');
  });
});

describe.skipIf(!hasOpenssl)('a list whose files come from an address', () => {
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-source-'));
    const { makeAuthority, makeCertificate } = certificatesIn(folder);
    makeAuthority('authority');
    makeCertificate('server', 'authority');
    const read = (name: string) => readFile(join(folder, name));
    server.setSecureContext({ key: await read('server.key'), cert: await read('server.pem') });
    await rm(folder, { recursive: true, force: true });
    // Node.js reads the authorities that it trusts when it starts; this it reads for each connection.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  });
  afterAll(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    server.closeAllConnections();
    server.close();
  });

  const createRemote = async (more: object = {}): Promise<string> =>
    (
      await createList({
        source: {
          type: 'URL',
          url: `https://${host}/lists/daily.csv?of=today`,
          everyMinutes: 10_080,
          ...more,
        },
      })
    ).id;
  const state = (id: string) => ok<Hotlist>('hotlists.getById', { id });
  const imports = async (id: string) =>
    (await ok<{ imports: HotlistImport[] }>('hotlists.getImports', { id })).imports;
  /** Waits until the source was looked into and what was found is applied. */
  const looked = async (id: string): Promise<Hotlist> => {
    await eventually(
      () => gantry.count(`hotlists WHERE id = '${id}' AND source_state ? 'problem'`),
      (n) => n === 1,
    );
    await eventually(
      () => imports(id),
      (all) => all.every((each) => each.state !== 'STAGING' && each.state !== 'APPLYING'),
    );
    return state(id);
  };
  /** Has the source looked into again. */
  const lookAgain = async (id: string): Promise<Hotlist> => {
    await gantry.pool.query(
      `UPDATE hotlists SET source_due_at = now(), source_state = source_state - 'problem' WHERE id = $1`,
      [id],
    );
    return looked(id);
  };
  const file = (plates: readonly string[]) => ['plate', ...plates, ''].join('\n');
  const send =
    (body: string, etag: string): Respond =>
    (response, { 'if-none-match': known }) => {
      if (known === etag) response.writeHead(304, { etag }).end();
      else response.writeHead(200, { etag }).end(body);
    };

  it('takes a file that is new, and confirms the list if it is the one that it has', async () => {
    respond = send(file(['UR 1', 'UR 2']), '"first"');
    const id = await createRemote();
    const first = await looked(id);
    expect(first).toMatchObject({ version: 1, entryCount: 2, sourceProblem: null });
    const again = await lookAgain(id);
    expect(again).toMatchObject({ version: 1, entryCount: 2, sourceProblem: null });
    expect(again.refreshedAt).not.toBe(first.refreshedAt);
    expect(await imports(id)).toMatchObject([{ origin: 'URL', fileName: 'daily.csv', state: 'APPLIED' }]);
    respond = send(file(['UR 1', 'UR 3', 'UR 4']), '"second"');
    expect(await lookAgain(id)).toMatchObject({ version: 2, entryCount: 3 });
  });

  it('takes only files that its key signed, refuses one once, and looks for its signature again', async () => {
    const body = file(['SU 1', 'SU 2']);
    let [content, signature]: [string, Buffer | null | 'fails'] = [body, signed(body)];
    const asked: string[] = [];
    respond = (response, headers, path) => {
      asked.push(path);
      if (path.startsWith('/lists/daily.csv?'))
        return send(content, `"${content.length}"`)(response, headers, path);
      if (signature === 'fails') return response.writeHead(500).end();
      return signature === null ? response.writeHead(404).end() : response.writeHead(200).end(signature);
    };
    const id = await createRemote({ publicKey: publicKeyOf(signer.publicKey) });
    const first = await looked(id);
    expect(first).toMatchObject({ version: 1, entryCount: 2, sourceProblem: null });
    expect(asked).toEqual(['/lists/daily.csv?of=today', '/lists/daily.csv.sig?of=today']);

    content = file(['SU 1', 'SU 2', 'SU 3']);
    for (let n = 0; n < 2; n++) {
      expect(await lookAgain(id)).toMatchObject({
        version: 1,
        sourceProblem: null,
        refreshedAt: first.refreshedAt,
      });
      expect(await imports(id)).toMatchObject([
        { state: 'REFUSED', error: 'The signature is not that of this file with the key of the list' },
        { state: 'APPLIED' },
      ]);
    }
    signature = null;
    await lookAgain(id);
    expect(await imports(id)).toMatchObject([
      { error: 'The file is not signed: there is no daily.csv.sig' },
      {},
      {},
    ]);
    signature = 'fails';
    expect(await lookAgain(id)).toMatchObject({
      version: 1,
      sourceProblem: expect.stringContaining('answered with status 500 for the signature'),
    });
    signature = signed(content);
    expect(await lookAgain(id)).toMatchObject({ version: 2, entryCount: 3, sourceProblem: null });
    expect(await imports(id)).toHaveLength(4);
  });

  it.each(['Fri, 31 Dec 99999 23:59:59 GMT', 'yesterday', ''])(
    'takes a file of which the server says that it was changed %j',
    async (modified) => {
      respond = (response) => response.writeHead(200, { 'last-modified': modified }).end(file(['LM 1']));
      const id = await createRemote();
      expect(await looked(id)).toMatchObject({ version: 1, sourceProblem: null });
    },
  );

  it('says so if the server changes the protocol', async () => {
    respond = ({ socket }) =>
      socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    expect((await looked(await createRemote())).sourceProblem).toContain('without an answer');
  });

  it('is asked for while another address has not answered yet', async () => {
    respond = send(file(['TW 1']), '"first"');
    const ids = [await createRemote(), await createRemote()];
    for (const id of ids) await looked(id);
    // Each is answered once both have asked.
    const waiting: ServerResponse[] = [];
    respond = (response) => {
      if (waiting.push(response) < ids.length) return;
      for (const each of waiting) each.writeHead(200).end(file(['TW 1', 'TW 2']));
    };
    await gantry.pool.query(
      `UPDATE hotlists SET source_due_at = now(), source_state = source_state - 'problem' WHERE id = ANY($1)`,
      [ids],
    );
    for (const id of ids) expect(await looked(id)).toMatchObject({ version: 2, sourceProblem: null });
  });

  it('is left when the process is about to end, and read by the next one', async () => {
    await using own = await startGantry({
      config: { WEBHOOK_ALLOW_HOSTS: host },
      overrides: { timings: { sweepHotlistJobsMs: 50, sweepHotlistsMs: 600_000, hotlistUrlMs: 600_000 } },
    });
    const asOperator = { token: await own.tokenFor('OPERATOR') };
    const source = { type: 'URL', url: `https://${host}/lists/daily.csv`, everyMinutes: 10_080 };
    const { id } = await own.ok<Hotlist>('hotlists.create', { name: 'Weekly', source }, asOperator);
    const stateOfOwn = () => own.ok<Hotlist>('hotlists.getById', { id }, asOperator);
    for (const part of ['head', 'body']) {
      const ending = new AbortController();
      respond = (response) => {
        if (part === 'body') response.writeHead(200).write('plate\n');
        ending.abort();
      };
      const before = received;
      await readSources(partsOf(own, ending.signal));
      expect(received).toBe(before + 1);
      expect(await stateOfOwn()).toMatchObject({ version: 0, sourceProblem: null });
    }
    respond = send(file(['LE 1']), '"weekly"');
    await readSources(partsOf(own));
    await eventually(stateOfOwn, ({ version }) => version === 1);
  });

  it('does not count as confirmed while the file that its address has is refused', async () => {
    respond = send(file(['RF 1', 'RF 2', 'RF 3', 'RF 4']), '"four"');
    const id = await createRemote();
    const { refreshedAt } = await looked(id);
    respond = send(file(['RF 1']), '"one"');
    await lookAgain(id);
    expect(await lookAgain(id)).toMatchObject({ version: 1, refreshedAt, sourceProblem: null });
    expect(await imports(id)).toMatchObject([{ state: 'REFUSED' }, { state: 'APPLIED' }]);
  });

  /** The list of the following tests, which has two entries. */
  let keeping: Promise<string> | undefined;
  it.each<[string, Respond, string]>([
    [
      'is not sent in time',
      (response) => {
        response.writeHead(200).write(file(['UR 9']));
        void collectGarbage();
      },
      'did not send the file within 3 s',
    ],
    [
      'is cut off',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' }).write(file(['UR 9']), () => response.destroy());
      },
      'did not arrive as a whole',
    ],
    [
      'is elsewhere',
      (response) => response.writeHead(302, { location: `https://${host}/elsewhere.csv` }).end(),
      'answered with a redirect (302), which is not followed',
    ],
    [
      'is too large',
      (response) => {
        response
          .writeHead(200, { 'content-length': String(MAX_HOTLIST_FILE_BYTES + 1) })
          .write(file(['UR 9']));
      },
      'The file has more than 256 MB',
    ],
    ['is empty', (response) => response.writeHead(200).end(), 'The file is empty'],
    ['is not there', (response) => response.writeHead(404).end('plate\nUR 9\n'), 'answered with status 404'],
  ])('keeps what it has, and says why, if the file %s', async (_, fails, problem) => {
    const kept = send(file(['UR 5', 'UR 6']), '"kept"');
    const has = { version: 1, entryCount: 2 };
    respond = kept;
    keeping ??= createRemote();
    const id = await keeping;
    await looked(id);
    const before = await lookAgain(id);
    expect(before).toMatchObject({ ...has, sourceProblem: null });
    respond = fails;
    received = 0;
    expect(await lookAgain(id)).toMatchObject({
      ...has,
      sourceProblem: expect.stringContaining(problem),
      refreshedAt: before.refreshedAt,
    });
    expect(received).toBe(1);
    expect(await imports(id)).toHaveLength(1);
    const uploads = join(gantry.app.context.hotlistFiles.inboxOf(id), '../uploads');
    expect((await readdir(uploads)).filter((name) => name.endsWith('.part'))).toEqual([]);
    respond = kept;
    const after = await lookAgain(id);
    expect(after).toMatchObject({ ...has, sourceProblem: null });
    expect(after.refreshedAt).not.toBe(before.refreshedAt);
  });

  it('takes the next file after one that was not there', async () => {
    const id = await createRemote();
    respond = (response) => response.writeHead(404).end();
    expect((await looked(id)).sourceProblem).toContain('answered with status 404');
    respond = send(file(['UR 5', 'UR 6', 'UR 7']), '"next"');
    expect(await lookAgain(id)).toMatchObject({ version: 1, entryCount: 3, sourceProblem: null });
  });

  it('is not read from a server that cannot prove its name, or from the own network', async () => {
    respond = send(file(['UR 8']), '"eight"');
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    const { id } = await createList({ source: { type: 'URL', url: `https://${host}/list.csv` } });
    expect((await looked(id)).sourceProblem).toMatch(/certificate/);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const { id: inside } = await createList({ source: { type: 'URL', url: 'https://localhost:1/list.csv' } });
    expect((await looked(inside)).sourceProblem).toContain('localhost is not on the public internet');
    expect([await imports(id), await imports(inside)]).toEqual([[], []]);
  });
});
