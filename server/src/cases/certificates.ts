import type {
  AddCertificateInput,
  Certificate,
  ListCertificatesInput,
  WithdrawCertificateInput,
} from '@gantry/contract/certificates';
import { MAX_CERTIFICATE_BYTES, MAX_CERTIFICATE_YEARS } from '@gantry/contract/certificates';
import { DAY_MS } from '@gantry/contract/durations';
import type { Page } from '@gantry/contract/page';
import { EXPIRING_DAYS } from '@gantry/contract/values';
import { imageUrl } from '@gantry/device-formats/image';
import { findNames, type NameOf } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import { readFile } from '../images/read-image.ts';
import type { ImageServices } from '../images/start.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { resolveTime } from '../platform/time.ts';
import { getSensor } from '../sensors/store.ts';
import {
  type CertificateRow,
  type Coverage,
  getCertificateRow,
  insertCertificate,
  listCertificates,
  withdrawRow,
} from './certificates-store.ts';

/** Maximum time until a file is stored, in milliseconds: less than the time limit of the request. */
const FILE_MS = 18_000;

/** The state of a certificate at a time (Unix milliseconds). */
export function certificateStateAt(
  { withdrawnAt, validFrom, validUntil }: Pick<CertificateRow, 'withdrawnAt' | 'validFrom' | 'validUntil'>,
  now: number,
): Certificate['state'] {
  if (withdrawnAt !== null) return 'WITHDRAWN';
  if (validFrom.getTime() > now) return 'FUTURE';
  if (validUntil.getTime() <= now) return 'EXPIRED';
  return validUntil.getTime() <= now + EXPIRING_DAYS * DAY_MS ? 'EXPIRING' : 'VALID';
}

/** Until when a kind of certificate of a sensor covers the time from now on without a gap. */
export type Ending = Omit<Coverage, 'validFrom'>;

/** When each kind of certificate of each sensor ends, or ended last. @param all by sensor, kind and start */
export function endingsOf(all: readonly Coverage[], now: number): Ending[] {
  const endings = new Map<string, { -readonly [Field in keyof Ending]: Ending[Field] }>();
  for (const { sensorId, kind, validFrom, validUntil } of all) {
    const key = `${sensorId} ${kind}`;
    const known = endings.get(key);
    // One that begins after a gap does not prolong what covers the present.
    if (!known) endings.set(key, { sensorId, kind, validUntil });
    else if (validFrom <= Math.max(known.validUntil, now))
      known.validUntil = Math.max(known.validUntil, validUntil);
  }
  return [...endings.values()];
}

function show(row: CertificateRow, nameOf: NameOf, now: number): Certificate {
  const { sha256, bytes, contentType, fileName, createdBy, withdrawnBy, ...fields } = row;
  return {
    ...fields,
    file:
      sha256 === null || fileName === null
        ? null
        : {
            sha256,
            bytes: bytes ?? 0,
            contentType: contentType ?? '',
            name: fileName,
            url: imageUrl(sha256),
          },
    state: certificateStateAt(row, now),
    createdBy: nameOf(createdBy),
    withdrawnBy: nameOf(withdrawnBy),
  };
}

async function showAll(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  rows: readonly CertificateRow[],
): Promise<Certificate[]> {
  const nameOf = await findNames(
    db,
    rows.flatMap(({ createdBy, withdrawnBy }) => [createdBy, withdrawnBy]),
  );
  return rows.map((row) => show(row, nameOf, clock.now()));
}

/** A page of certificates. */
export async function viewCertificates(
  { app }: ActorContext,
  input: ListCertificatesInput,
): Promise<Page<Certificate>> {
  const { items, total } = await listCertificates(app.db, input, app.clock.now());
  return { items: await showAll(app, items), total };
}

/** @throws AppError `notFound` */
export async function viewCertificate({ app }: Pick<ActorContext, 'app'>, id: string): Promise<Certificate> {
  const [shown] = await showAll(app, [await getCertificateRow(app.db, id)]);
  if (!shown) throw new Error('The certificate has disappeared');
  return shown;
}

/** The times of a certificate, in Unix milliseconds. @throws AppError `badRequest` */
function validityOf({ validFrom, validUntil }: AddCertificateInput, zone: string) {
  const [from, until] = [resolveTime(validFrom, zone), resolveTime(validUntil, zone)];
  if (until <= from)
    throw invalidInput('validUntil', 'The validity ends before it begins: give an end after validFrom');
  if (until - from > MAX_CERTIFICATE_YEARS * 366 * DAY_MS)
    throw invalidInput('validUntil', `A certificate is valid for at most ${MAX_CERTIFICATE_YEARS} years`);
  return { validFrom: from, validUntil: until };
}

/**
 * Adds a certificate. Its file is durable when this resolves.
 * @throws AppError `badRequest` for another kind of file, times in the wrong order, or an unknown sensor
 */
export async function addCertificate(
  ctx: ActorContext<Core & ImageServices>,
  input: AddCertificateInput,
): Promise<Certificate> {
  const { app, actor, caller } = ctx;
  const validity = validityOf(input, app.settings.current().timezone);
  const sensor = await getSensor(app.db, input.sensorId);
  const file = input.file === undefined ? null : readFile(input.file, 'file', MAX_CERTIFICATE_BYTES);
  if (file) await app.images.keepForNote([file], performance.now() + FILE_MS);
  const id = await inTransaction(app.db, async (tx) => {
    const { kind, number, issuer, tolerance, note } = input;
    const created = await insertCertificate(tx, {
      ...{ kind, number, issuer, tolerance, note, ...validity },
      ...{ sensorId: sensor.id, sensorName: sensor.name, createdBy: actor.id },
      file: file && { sha256: file.sha256, name: input.fileName ?? number },
    });
    await recordActivity(tx, actor.id, caller, 'certificates.add', {
      certificateId: created,
      sensorId: sensor.id,
      kind,
      number,
    });
    return created;
  });
  return viewCertificate(ctx, id);
}

/**
 * Withdraws a certificate: it covers nothing any more, not even the time before.
 * @throws AppError `notFound`; `conflict` when it is withdrawn
 */
export async function withdrawCertificate(
  ctx: ActorContext,
  { id, reason }: WithdrawCertificateInput,
): Promise<Certificate> {
  const { app, actor, caller } = ctx;
  await inTransaction(app.db, async (tx) => {
    const row = await getCertificateRow(tx, id);
    if (!(await withdrawRow(tx, row.id, { userId: actor.id, reason }))) {
      const at = (await getCertificateRow(tx, id)).withdrawnAt ?? new Date(await readDatabaseTime(tx));
      throw new AppError('conflict', `The certificate was withdrawn at ${at.toISOString()}`);
    }
    const { sensorId, kind, number } = row;
    await recordActivity(tx, actor.id, caller, 'certificates.withdraw', {
      certificateId: row.id,
      ...{ sensorId, kind, number, reason },
    });
  });
  return viewCertificate(ctx, id);
}
