import { isUuid } from '@gantry/contract/id';
import {
  CODE_MINUTES,
  CODE_TRIES,
  type Contact,
  MAX_CONTACTS,
  MAX_CONTACTS_OF_USER,
} from '@gantry/contract/notices';
import type { Role } from '@gantry/contract/permissions';
import { and, asc, eq, sql } from 'drizzle-orm';
import { isUniqueViolation } from '../platform/database/failure.ts';
import { lockAdditions } from '../platform/database/locks.ts';
import { contacts } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';

type ContactRow = typeof contacts.$inferSelect;

const columns = {
  id: contacts.id,
  kind: contacts.kind,
  address: contacts.address,
  language: contacts.language,
  quiet: contacts.quiet,
  verifiedAt: contacts.verifiedAt,
  createdAt: contacts.createdAt,
};

/** The contacts of a user, the oldest first. */
export function listContacts(db: Executor, userId: string): Promise<Contact[]> {
  return db
    .select(columns)
    .from(contacts)
    .where(eq(contacts.userId, userId))
    .orderBy(asc(contacts.createdAt), asc(contacts.id));
}

/**
 * Adds a contact that is to be verified.
 * @throws AppError `badRequest` when there are too many, or the user has this one
 */
export async function insertContact(
  tx: Transaction,
  fields: Pick<ContactRow, 'userId' | 'kind' | 'address' | 'language' | 'quiet'>,
): Promise<Contact> {
  await lockAdditions(tx, 'contacts');
  if ((await tx.$count(contacts, eq(contacts.userId, fields.userId))) >= MAX_CONTACTS_OF_USER)
    throw new AppError('badRequest', `You have ${MAX_CONTACTS_OF_USER} contacts already: delete one first`);
  if ((await tx.$count(contacts)) >= MAX_CONTACTS)
    throw new AppError(
      'badRequest',
      `There are ${MAX_CONTACTS} contacts already: others must delete one first`,
    );
  try {
    return found(await tx.insert(contacts).values(fields).returning(columns), 'Contact');
  } catch (error) {
    throw isUniqueViolation(error) ? invalidInput('address', 'You have this contact already') : error;
  }
}

/** The contact of a user, locked until the transaction ends. @throws AppError `notFound` */
export async function lockContact(tx: Transaction, id: string, userId: string): Promise<ContactRow> {
  const rows = isUuid(id)
    ? await tx
        .select()
        .from(contacts)
        .where(and(eq(contacts.id, id), eq(contacts.userId, userId)))
        .for('update')
    : [];
  return found(rows, 'Contact');
}

export async function updateContactRow(
  tx: Transaction,
  id: string,
  fields: Partial<ContactRow>,
): Promise<Contact> {
  const rows = await tx.update(contacts).set(fields).where(eq(contacts.id, id)).returning(columns);
  return found(rows, 'Contact');
}

export async function deleteContactRow(tx: Transaction, id: string): Promise<void> {
  await tx.delete(contacts).where(eq(contacts.id, id));
}

/** What becomes of a code that a user gives. */
export type CodeOutcome = 'RIGHT' | 'WRONG' | 'EXPIRED';

/** Compares a code, by its hash, with the one that was sent to a contact, and counts a wrong one. */
export async function tryCode(tx: Transaction, id: string, codeHash: string): Promise<CodeOutcome> {
  const { rows } = await tx.execute<{ outcome: CodeOutcome }>(sql`
    WITH before AS (
      SELECT id, code_hash = ${codeHash} AS is_right,
        code_hash IS NOT NULL AND code_tries < ${CODE_TRIES}
          AND code_at > now() - ${CODE_MINUTES} * interval '1 minute' AS is_valid
      FROM contacts WHERE id = ${id}
    ), tried AS (
      UPDATE contacts SET
        verified_at = CASE WHEN is_right THEN now() END,
        code_hash = CASE WHEN is_right THEN NULL ELSE code_hash END,
        code_tries = CASE WHEN is_right THEN 0 ELSE code_tries + 1 END
      FROM before WHERE contacts.id = before.id AND is_valid
    )
    SELECT CASE WHEN NOT is_valid THEN 'EXPIRED' WHEN is_right THEN 'RIGHT' ELSE 'WRONG' END AS outcome FROM before`);
  return rows[0]?.outcome ?? 'EXPIRED';
}

/** How a user may be reached. */
export interface ReachableUser {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  /** The confirmed ones. */
  readonly contacts: readonly Pick<ContactRow, 'kind' | 'address' | 'language' | 'quiet'>[];
}

/** The users of these ids that exist and are active, with their confirmed contacts. */
export async function findReachable(db: Executor, userIds: readonly string[]): Promise<ReachableUser[]> {
  const { rows } = await db.execute<{ [Field in keyof ReachableUser]: ReachableUser[Field] }>(sql`
    SELECT id AS "userId", first_name || ' ' || last_name AS name, role, coalesce((
      SELECT json_agg(json_build_object('kind', kind, 'address', address, 'language', language, 'quiet', quiet)
        ORDER BY created_at, contacts.id)
      FROM contacts WHERE user_id = users.id AND verified_at IS NOT NULL), '[]') AS contacts
    FROM users WHERE is_active AND id = ANY (${sql.param(userIds.filter(isUuid))}::uuid[])`);
  return rows;
}
