import { randomInt } from 'node:crypto';
import { codeText } from '@gantry/contract/notice-texts';
import {
  ADDRESS_EXAMPLES,
  CODE_MINUTES,
  type Contact,
  type CreateContactInput,
  contactAddress,
  type UpdateContactInput,
} from '@gantry/contract/notices';
import type { AuthServices } from '../accounts/start.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { type ChannelRow, listChannelRows } from './channels-store.ts';
import {
  deleteContactRow,
  insertContact,
  listContacts,
  lockContact,
  tryCode,
  updateContactRow,
} from './contacts-store.ts';
import { channelFor } from './recipients.ts';
import type { NoticeServices } from './start.ts';

type ContactContext = ActorContext<Core & NoticeServices & Pick<AuthServices, 'secrets' | 'loginThrottle'>>;

/** The caller's own contacts. */
export function viewContacts({ app, actor }: ActorContext): Promise<Contact[]> {
  return listContacts(app.db, actor.id);
}

/**
 * Adds a contact of the caller, and sends a code to it.
 * @throws AppError `badRequest` for an invalid address, when there are too many, no channel reaches it, or the code
 * cannot be sent; then the contact is there, and `sendCode` sends another one
 */
export async function createContact(ctx: ContactContext, input: CreateContactInput): Promise<Contact> {
  const { app, actor, caller } = ctx;
  const { kind, language, quiet } = input;
  const address = contactAddress(kind, input.address);
  if (address === null) throw invalidInput('address', ADDRESS_EXAMPLES[kind]);
  requireChannel(await listChannelRows(app.db), kind);
  const created = await inTransaction(app.db, async (tx) => {
    const added = await insertContact(tx, { userId: actor.id, kind, address, language, quiet });
    await recordActivity(tx, actor.id, caller, 'contacts.create', { contactId: added.id, kind });
    return added;
  });
  await sendCode(ctx, created.id);
  return created;
}

/** Sets the given fields of a contact of the caller. @throws AppError `notFound` */
export function updateContact(
  { app, actor, caller }: ActorContext,
  { id, ...changes }: UpdateContactInput,
): Promise<Contact> {
  return inTransaction(app.db, async (tx) => {
    const { id: contactId, language, quiet } = await lockContact(tx, id, actor.id);
    await recordActivity(tx, actor.id, caller, 'contacts.update', {
      contactId,
      fields: givenFields(changes),
    });
    return updateContactRow(tx, contactId, { language, quiet, ...changes });
  });
}

/** Deletes a contact of the caller. @throws AppError `notFound` */
export function deleteContact({ app, actor, caller }: ActorContext, id: string): Promise<string> {
  return inTransaction(app.db, async (tx) => {
    const { id: contactId, kind } = await lockContact(tx, id, actor.id);
    await deleteContactRow(tx, contactId);
    await recordActivity(tx, actor.id, caller, 'contacts.delete', { contactId, kind });
    return contactId;
  });
}

/**
 * Sends a new code to a contact of the caller, which replaces the last one.
 * @throws AppError `notFound`; `badRequest` when it is confirmed, no channel reaches it, or the code cannot be sent;
 * `tooManyRequests` after too many codes
 */
export async function sendCode(ctx: ContactContext, id: string): Promise<void> {
  const { app, actor, caller } = ctx;
  const contact = found(
    (await listContacts(app.db, actor.id)).filter((each) => each.id === id.toLowerCase()),
    'Contact',
  );
  if (contact.verifiedAt) throw alreadyConfirmed();
  const channel = requireChannel(await listChannelRows(app.db), contact.kind);
  await app.loginThrottle.beginSentCode(actor.id, contact.address);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await inTransaction(app.db, async (tx) => {
    const { id: contactId, kind } = await lockContact(tx, contact.id, actor.id);
    await updateContactRow(tx, contactId, {
      codeHash: app.secrets.mac(`${contactId} ${code}`),
      codeAt: new Date(app.clock.now()),
      codeTries: 0,
    });
    await recordActivity(tx, actor.id, caller, 'contacts.sendCode', { contactId, kind });
  });
  const { error } = await app.sendNotice(channel, {
    ...{ id: contact.id, kind: 'CODE', severity: 'LOW', policy: '', total: 0, link: '', acknowledge: null },
    ...codeText(contact.language, code, CODE_MINUTES),
    recipient: contact.address,
  });
  if (error !== null)
    throw new AppError('badRequest', `The code could not be sent through ${channel.name}: ${error}`);
}

/** Confirms a contact of the caller by the code. @throws AppError `notFound`; `badRequest` for a wrong or expired code */
export async function verifyContact(
  { app, actor, caller }: ContactContext,
  { id, code }: { readonly id: string; readonly code: string },
): Promise<Contact> {
  const { contactId, outcome } = await inTransaction(app.db, async (tx) => {
    const contact = await lockContact(tx, id, actor.id);
    if (contact.verifiedAt) throw alreadyConfirmed();
    const tried = await tryCode(tx, contact.id, app.secrets.mac(`${contact.id} ${code}`));
    const details = { contactId: contact.id, kind: contact.kind };
    if (tried === 'RIGHT') await recordActivity(tx, actor.id, caller, 'contacts.verify', details);
    return { contactId: contact.id, outcome: tried };
  });
  if (outcome === 'WRONG') throw invalidInput('code', 'The code is wrong: use the last one that was sent');
  if (outcome === 'EXPIRED')
    throw invalidInput(
      'code',
      'There is no valid code, or there were too many wrong ones: request a new one',
    );
  return found(
    (await listContacts(app.db, actor.id)).filter((each) => each.id === contactId),
    'Contact',
  );
}

function requireChannel(channels: readonly ChannelRow[], kind: Contact['kind']): ChannelRow {
  const channel = channelFor(channels, kind);
  if (channel) return channel;
  throw invalidInput(
    'kind',
    `No channel reaches contacts of the kind ${kind}: ask an administrator to add one`,
  );
}

function alreadyConfirmed(): AppError {
  return new AppError('badRequest', 'This contact is confirmed already');
}
