import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import type { CaseDetail, CaseExport } from '@gantry/contract/cases';
import { expect } from 'vitest';
import {
  Archive,
  type ArchivedFile,
  archiveDirectory,
  archiveTime,
  localHeader,
} from '../src/evidence/archive.ts';
import type { SealingKey } from '../src/evidence/seals.ts';
import { type PackageVerdict, sumsOf, verifyPackage } from '../src/evidence/verify-package.ts';
import { fileServices } from './file-services.ts';
import { ADMIN, Caller, eventually } from './harness.ts';
import { dataUrl, jpeg } from './sample-images.ts';

// Cases that are verified and exported, packages that are taken apart, and the two programs that verify them.

const run = promisify(execFile);
const verifier = fileURLToPath(new URL('verify-package.py', import.meta.url));

/** The folder of the archives of the test file that runs now. It is removed after the last test of the file. */
let folder: Promise<string> | null = null;
const createFolder = async (): Promise<string> => {
  const created = await mkdtemp(join(tmpdir(), 'gantry-packages-'));
  fileServices.add({
    [Symbol.asyncDispose]: () => {
      folder = null;
      return rm(created, { recursive: true, force: true });
    },
  });
  return created;
};

export const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');

export const certificateFile = Buffer.from('%PDF-1.4\n% certificate\n%%EOF\n');

export const imageOf = (plate: string, n: number) =>
  jpeg({ width: 64, height: 48, comment: `${plate} ${n}` });

/** Two persons who verify cases of one sensor. */
export class Verifiers {
  readonly gantry: Caller;
  readonly first: string;
  readonly second: string;
  readonly apiKey: string;
  readonly sensorId: string;

  private constructor(gantry: Caller, tokens: readonly string[], sensor: { id: string; apiKey: string }) {
    this.gantry = gantry;
    [this.first = '', this.second = ''] = tokens;
    this.apiKey = sensor.apiKey;
    this.sensorId = sensor.id;
  }

  static async begin(gantry: Caller): Promise<Verifiers> {
    const admin = { token: await gantry.tokenFor('ADMIN') };
    const tokens = await Promise.all(
      ['first', 'second'].map(async (name) => {
        const email = `${name}@gantry.local`;
        const user = {
          email,
          password: ADMIN.password,
          firstName: name,
          lastName: 'Verifier',
          role: 'OPERATOR',
        };
        await gantry.ok('users.create', user, admin);
        return gantry.login(email, ADMIN.password);
      }),
    );
    const sensor = await gantry.ok<{ id: string; apiKey: string }>(
      'sensors.create',
      { name: 'Camera', deviceId: 'camera-1', type: 'CAMERA', locationName: 'Bridge' },
      admin,
    );
    for (const kind of ['TYPE_APPROVAL', 'CALIBRATION'] as const)
      await gantry.ok(
        'certificates.add',
        {
          ...{ sensorId: sensor.id, kind, number: `No. ${kind}`, issuer: 'Institute' },
          ...{ validFrom: '2020-01-01', validUntil: '2040-01-01' },
          ...(kind === 'CALIBRATION' && {
            tolerance: { fixedKmh: 3, percent: 3 },
            file: certificateFile.toString('base64'),
            fileName: 'calibration.pdf',
          }),
        },
        admin,
      );
    return new Verifiers(gantry, tokens, sensor);
  }

  /** The same people, at another address of the service. */
  at(url: string): Verifiers {
    return new Verifiers(new Caller(url), [this.first, this.second], {
      id: this.sensorId,
      apiKey: this.apiKey,
    });
  }

  /** Opens a case about a new violation with two images. */
  async open(plate: string, images = [1, 2].map((n) => imageOf(plate, n))): Promise<CaseDetail> {
    const { eventId } = await this.gantry.ok<{ eventId: string }>('events.ingest', {
      ...{ apiKey: this.apiKey, eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING' },
      ...{ licensePlateNumber: plate, vehicleSpeed: 78 },
      images: images.map((bytes) => dataUrl(bytes, 'image/jpeg')),
    });
    return this.gantry.ok<CaseDetail>('cases.open', { eventId }, { token: this.first });
  }

  async verify({ id }: { readonly id: string }): Promise<void> {
    const reason = 'The limit is posted at the bridge';
    await this.gantry.ok('cases.check', { id, reason }, { token: this.first });
    await this.gantry.ok('cases.verify', { id, reason }, { token: this.second });
  }

  async openVerified(plate: string): Promise<CaseDetail> {
    const opened = await this.open(plate);
    await this.verify(opened);
    return opened;
  }

  /** Requests a package. @returns it when it is made, or could not be */
  async request({ id }: { readonly id: string }, redacted = false): Promise<CaseExport> {
    const token = this.second;
    const { exportId } = await this.gantry.ok<{ exportId: string }>(
      'cases.export',
      { id, redacted },
      { token },
    );
    return this.finished(exportId);
  }

  finished(exportId: string): Promise<CaseExport> {
    return eventually(
      () => this.gantry.ok<CaseExport>('cases.getExport', { exportId }, { token: this.second }),
      ({ status }) => status === 'DONE' || status === 'FAILED',
    );
  }

  fetch({ url }: Pick<CaseExport, 'url'>, token = this.second): Promise<Response> {
    return fetch(`${this.gantry.url}${url}`, { headers: { authorization: `Bearer ${token}` } });
  }

  /** The package of a case. */
  async export(of: { readonly id: string }, redacted = false): Promise<Buffer> {
    const made = await this.request(of, redacted);
    expect(made).toMatchObject({ status: 'DONE', error: null, redacted });
    const answer = await this.fetch(made);
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  }
}

export interface Entry {
  name: string;
  content: Buffer;
}

let written = 0;
/** Keeps an archive as a file. @returns its path */
export const keep = async (content: Buffer): Promise<string> => {
  folder ??= createFolder();
  const path = join(await folder, `${written++}.zip`);
  await writeFile(path, content);
  return path;
};

export const readEntries = async (content: Buffer): Promise<Entry[]> => {
  using archive = new Archive(await keep(content));
  return archive.files.map((file) => ({
    name: file.name,
    content: Buffer.concat([...archive.read(file)].map((piece) => Buffer.from(piece))),
  }));
};

/** An archive of the form of a package. */
export const pack = (entries: readonly Entry[], time: number): Buffer => {
  const files: ArchivedFile[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  for (const { name, content } of entries) {
    const file = { name, bytes: content.length, crc: crc32(content), at };
    files.push(file);
    parts.push(localHeader(file, time), content);
    at += localHeader(file, time).length + content.length;
  }
  return Buffer.concat([...parts, archiveDirectory(files, time, at)]);
};

// biome-ignore lint/suspicious/noExplicitAny: what mutations change has no type
export type Json = Record<string, any>;

/** A package that is taken apart. */
export class Parts {
  readonly entries: Entry[];

  constructor(entries: readonly Entry[]) {
    this.entries = entries.map((entry) => ({ ...entry }));
  }

  get time(): number {
    return archiveTime(Date.parse(this.json('manifest.json').madeAt));
  }

  entry(name: string): Entry {
    return this.entries.find((each) => each.name === name) ?? expect.fail(`no ${name}`);
  }

  named(prefix: string): string {
    return this.entries.find(({ name }) => name.startsWith(prefix))?.name ?? expect.fail(`no ${prefix}`);
  }

  json(name: string): Json {
    return JSON.parse(this.entry(name).content.toString());
  }

  change(name: string, edit: (said: Json) => void): this {
    const said = this.json(name);
    edit(said);
    this.entry(name).content = Buffer.from(`${JSON.stringify(said, null, 1)}\n`);
    return this;
  }

  flip(name: string, at = 0): this {
    const { content } = this.entry(name);
    const copy = Buffer.from(content);
    const index = at < 0 ? copy.length + at : at;
    copy[index] = (copy[index] ?? 0) ^ 1;
    this.entry(name).content = copy;
    return this;
  }

  /** Signs it again as somebody with the private key could. */
  resign(key: SealingKey, edit: (manifest: Json) => void = () => undefined): this {
    this.change('manifest.json', (manifest) => {
      for (const file of manifest.files) {
        const found = this.entries.find(({ name }) => name === file.name);
        if (found) Object.assign(file, { bytes: found.content.length, sha256: sha256(found.content) });
      }
      edit(manifest);
    });
    const manifest = this.entry('manifest.json').content;
    this.entry('manifest.sig').content = key.sign(manifest);
    const sums = Buffer.from(
      sumsOf([...this.json('manifest.json').files, { name: 'manifest.json', sha256: sha256(manifest) }]),
    );
    this.entry('manifest.sha256').content = sums;
    this.entry('manifest.sha256.sig').content = key.sign(sums);
    return this;
  }

  pack(): Buffer {
    return pack(this.entries, this.time);
  }
}

/** Faults as both verifiers name them, in one order. */
const places = (faults: readonly (readonly [string, string | null])[]): string[] =>
  faults.map(([fault, at]) => `${fault} ${at ?? ''}`.trim()).sort();

export const byPython = async (paths: readonly string[], keys: readonly string[] = []) => {
  const { stdout } = await run('python3', [verifier, keys.join(','), ...paths], { maxBuffer: 1e8 });
  return JSON.parse(stdout) as (Pick<PackageVerdict, 'verified' | 'keyId' | 'sealedEvents' | 'events'> & {
    faults: [string, string | null][];
  })[];
};

/** Verifies archives with both programs, which must agree. */
export const verify = async (archives: readonly Buffer[], keys: readonly string[] | null = null) => {
  const paths = await Promise.all(archives.map(keep));
  const python = await byPython(paths, keys ?? []);
  return paths.map((path, index) => {
    const { verified, faults, keyId, sealedEvents, events } = verifyPackage(path, keys);
    const own = {
      verified,
      keyId,
      sealedEvents,
      events,
      faults: places(faults.map(({ fault, at }) => [fault, at])),
    };
    const theirs = python[index] ?? expect.fail('no verdict');
    expect({ ...theirs, faults: places(theirs.faults) }).toEqual(own);
    return own;
  });
};

export const verdictOf = async (archive: Buffer, keys: readonly string[] | null = null) =>
  (await verify([archive], keys))[0] ?? expect.fail('no verdict');
