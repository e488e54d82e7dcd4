import type { AddCertificateInput, Certificate, ListCertificatesInput } from '@gantry/contract/certificates';
import { MAX_CERTIFICATES } from '@gantry/contract/certificates';
import { DAY_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { EXPIRING_DAYS } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found } from '../platform/error.ts';

/** A certificate as it is stored, with what is known of its file. */
export interface CertificateRow {
  readonly id: string;
  readonly sensorId: string;
  readonly sensorName: string;
  readonly kind: Certificate['kind'];
  readonly number: string;
  readonly issuer: string | null;
  readonly validFrom: Date;
  readonly validUntil: Date;
  readonly tolerance: Certificate['tolerance'];
  readonly sha256: string | null;
  readonly fileName: string | null;
  readonly bytes: number | null;
  readonly contentType: string | null;
  readonly note: string | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly withdrawnAt: Date | null;
  readonly withdrawnBy: string | null;
  readonly withdrawReason: string | null;
}

const COLUMNS =
  sql.raw(`certificate.id, sensor_id AS "sensorId", coalesce(sensors.name, sensor_name) AS "sensorName", kind,
  number, issuer, valid_from AS "validFrom", valid_until AS "validUntil", tolerance,
  encode(certificate.sha256, 'hex') AS sha256, file_name AS "fileName", bytes, media_type AS "contentType", note,
  certificate.created_by AS "createdBy", certificate.created_at AS "createdAt", withdrawn_at AS "withdrawnAt",
  withdrawn_by AS "withdrawnBy", withdraw_reason AS "withdrawReason"`);
const FROM = sql.raw(`FROM certificates AS certificate LEFT JOIN sensors ON sensors.id = sensor_id
  LEFT JOIN images ON images.sha256 = certificate.sha256`);

type Times = 'validFrom' | 'validUntil' | 'createdAt' | 'withdrawnAt';
type Row = Record<string, unknown> &
  Omit<CertificateRow, Times> &
  Record<Exclude<Times, 'withdrawnAt'>, string> & { readonly withdrawnAt: string | null };

function toCertificate(row: Row): CertificateRow {
  return {
    ...row,
    validFrom: new Date(row.validFrom),
    validUntil: new Date(row.validUntil),
    createdAt: new Date(row.createdAt),
    withdrawnAt: row.withdrawnAt === null ? null : new Date(row.withdrawnAt),
  };
}

/** All certificates of a sensor, the first one to begin first. */
export async function certificatesOf(db: Executor, sensorId: string): Promise<CertificateRow[]> {
  // Plan: certificates_of_sensor.
  const { rows } = await db.execute<Row>(sql`
    SELECT ${COLUMNS} ${FROM} WHERE sensor_id = ${sensorId}::uuid ORDER BY valid_from, certificate.id`);
  return rows.map(toCertificate);
}

/** Those of the certificates that exist. */
export async function findCertificates(db: Executor, ids: readonly string[]): Promise<CertificateRow[]> {
  const { rows } = await db.execute<Row>(sql`
    SELECT ${COLUMNS} ${FROM} WHERE certificate.id = ANY (${sql.param([...ids])}::uuid[]) ORDER BY kind, certificate.id`);
  return rows.map(toCertificate);
}

/** @throws AppError `notFound` */
export async function getCertificateRow(db: Executor, id: string): Promise<CertificateRow> {
  const { rows } = isUuid(id)
    ? await db.execute<Row>(sql`SELECT ${COLUMNS} ${FROM} WHERE certificate.id = ${id}::uuid`)
    : { rows: [] };
  return toCertificate(found(rows, 'Certificate'));
}

/** The condition for certificates that are in a state. @param now Unix milliseconds */
function isIn(state: Certificate['state'], now: number): SQL {
  const at = moment(now);
  const isWithdrawn = sql`withdrawn_at IS NOT NULL`;
  const soon = moment(now + EXPIRING_DAYS * DAY_MS);
  switch (state) {
    case 'WITHDRAWN':
      return isWithdrawn;
    case 'FUTURE':
      return sql`NOT (${isWithdrawn}) AND valid_from > ${at}`;
    case 'EXPIRED':
      return sql`NOT (${isWithdrawn}) AND valid_until <= ${at}`;
    case 'EXPIRING':
      return sql`NOT (${isWithdrawn}) AND valid_from <= ${at} AND valid_until > ${at} AND valid_until <= ${soon}`;
    case 'VALID':
      return sql`NOT (${isWithdrawn}) AND valid_from <= ${at} AND valid_until > ${soon}`;
  }
}

/**
 * The condition for certificates that are valid at a time and end within some days, without another one of the kind that
 * follows or is valid longer.
 */
function endsWithin(days: number, now: number): SQL {
  return sql`withdrawn_at IS NULL AND valid_from <= ${moment(now)} AND valid_until > ${moment(now)}
    AND valid_until <= ${moment(now + days * DAY_MS)} AND NOT EXISTS (
      SELECT FROM certificates AS other WHERE other.sensor_id = certificate.sensor_id AND other.kind = certificate.kind
        AND other.withdrawn_at IS NULL AND other.valid_from <= certificate.valid_until
        AND other.valid_until > certificate.valid_until
    )`;
}

/** A page of certificates. @param now Unix milliseconds */
export async function listCertificates(
  db: Executor,
  { sensorId, kind, state, expiringDays, skip, take }: ListCertificatesInput,
  now: number,
): Promise<Page<CertificateRow>> {
  const conditions = [
    sensorId === undefined ? sql`true` : isUuid(sensorId) ? sql`sensor_id = ${sensorId}::uuid` : sql`false`,
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(state === undefined ? [] : [sql`(${isIn(state, now)})`]),
    ...(expiringDays === undefined ? [] : [endsWithin(expiringDays, now)]),
  ];
  const wanted = sql.join(conditions, sql` AND `);
  const { rows } = await db.execute<Row>(sql`
    SELECT ${COLUMNS} ${FROM} WHERE ${wanted}
    ORDER BY "sensorName", sensor_id, kind, valid_from DESC, certificate.id LIMIT ${take} OFFSET ${skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM certificates AS certificate WHERE ${wanted}`,
  );
  return { items: rows.map(toCertificate), total: counted[0]?.total ?? 0 };
}

/** A certificate to store. */
export type NewCertificate = Pick<
  AddCertificateInput,
  'kind' | 'number' | 'issuer' | 'tolerance' | 'note'
> & {
  readonly sensorId: string;
  readonly sensorName: string;
  /** Unix milliseconds. */
  readonly validFrom: number;
  readonly validUntil: number;
  readonly file: { readonly sha256: string; readonly name: string } | null;
  readonly createdBy: string;
};

/** @returns its id @throws AppError `badRequest` when the sensor has too many */
export async function insertCertificate(tx: Transaction, fields: NewCertificate): Promise<string> {
  const { rows: counted } = await tx.execute<{ n: number }>(
    sql`SELECT count(*) AS n FROM certificates WHERE sensor_id = ${fields.sensorId}::uuid`,
  );
  if ((counted[0]?.n ?? 0) >= MAX_CERTIFICATES)
    throw new AppError('badRequest', `A sensor has at most ${MAX_CERTIFICATES} certificates`);
  const { kind, number, issuer, tolerance, note, file, createdBy } = fields;
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO certificates (sensor_id, sensor_name, kind, number, issuer, valid_from, valid_until, tolerance, sha256,
      file_name, note, created_by)
    VALUES (${fields.sensorId}::uuid, ${fields.sensorName}, ${kind}, ${number}, ${issuer}, ${moment(fields.validFrom)},
      ${moment(fields.validUntil)}, ${tolerance && JSON.stringify(tolerance)}::jsonb,
      decode(${file?.sha256 ?? null}, 'hex'), ${file?.name ?? null}, ${note}, ${createdBy}::uuid)
    RETURNING id`);
  return found(rows, 'Certificate').id;
}

/** Withdraws a certificate, unless it is. @returns whether this call did */
export async function withdrawRow(
  tx: Transaction,
  id: string,
  { userId, reason }: { readonly userId: string; readonly reason: string },
): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    UPDATE certificates SET withdrawn_at = clock_timestamp(), withdrawn_by = ${userId}::uuid, withdraw_reason = ${reason}
    WHERE id = ${id}::uuid AND withdrawn_at IS NULL`);
  return (rowCount ?? 0) > 0;
}

/** When the certificates of a kind of a sensor end. */
export interface Coverage {
  readonly sensorId: string;
  readonly kind: Certificate['kind'];
  /** Unix milliseconds. */
  readonly validFrom: number;
  readonly validUntil: number;
}

/**
 * The certificates that are not withdrawn, of sensors that exist and of kinds of which the sensor had one before a time: by
 * sensor, kind and start.
 */
export async function listCoverage(db: Executor, now: number): Promise<Coverage[]> {
  const { rows } = await db.execute<Coverage & Record<string, unknown>>(sql`
    SELECT sensor_id AS "sensorId", kind, (extract(epoch FROM valid_from) * 1000)::float8 AS "validFrom",
      (extract(epoch FROM valid_until) * 1000)::float8 AS "validUntil"
    FROM certificates AS own JOIN sensors ON sensors.id = sensor_id
    WHERE withdrawn_at IS NULL AND EXISTS (
      SELECT FROM certificates AS first WHERE first.sensor_id = own.sensor_id AND first.kind = own.kind
        AND first.withdrawn_at IS NULL AND first.valid_from <= ${moment(now)}
    )
    ORDER BY sensor_id, kind, valid_from`);
  return rows;
}
