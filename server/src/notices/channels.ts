import type { Severity } from '@gantry/contract/events';
import { testText } from '@gantry/contract/notice-texts';
import {
  ADDRESS_EXAMPLES,
  type ChannelKind,
  type ChannelSettings,
  type CreateChannelInput,
  channelFields,
  contactAddress,
  HEADER_VALUE,
  type NoticeChannel,
  type RedeliverNoticesInput,
  reachedBy,
  type UpdateChannelInput,
} from '@gantry/contract/notices';
import type { AuthServices } from '../accounts/start.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { requireUsable } from '../platform/outbound.ts';
import {
  type ChannelRow,
  deleteChannelRow,
  getChannelRow,
  insertChannel,
  listChannelRows,
  lockChannel,
  showChannels,
  updateChannelRow,
} from './channels-store.ts';
import { bodyFlaw, exampleUrl, headerFlaw, urlFlaw } from './compose.ts';
import { insertNotices, redeliverFailed, redeliverOne, wakeChannels } from './notices-store.ts';
import { recipientsOf, requireUnnamed } from './recipients.ts';
import type { NoticeServices } from './start.ts';

type ChannelContext = ActorContext<Core & NoticeServices & Pick<AuthServices, 'secrets'>>;

/** The fields of a channel that depend on its kind, with the secret in plain. */
interface KindFields extends ChannelSettings {
  readonly secret?: string;
}

const KIND_FIELDS = ['url', 'method', 'headers', 'body', 'to', 'secret'] as const;

export async function viewChannels({ app: { db } }: ActorContext): Promise<NoticeChannel[]> {
  return showChannels(db, await listChannelRows(db));
}

/** @throws AppError `notFound` */
export async function viewChannel({ app: { db } }: ActorContext, id: string): Promise<NoticeChannel> {
  return shown(db, await getChannelRow(db, id));
}

/** @throws AppError `badRequest` when a field does not fit the kind, the address cannot be used, or there are too many */
export async function createChannel(ctx: ChannelContext, input: CreateChannelInput): Promise<NoticeChannel> {
  const { app, actor, caller } = ctx;
  const { name, kind, plates, language, enabled } = input;
  const { secret, ...settings } = await checkFields(ctx, kind, kindFieldsOf(input));
  return inTransaction(app.db, async (tx) => {
    const row = await insertChannel(tx, {
      ...{ name, kind, plates, language, enabled, createdBy: actor.id },
      settings,
      secret: secret === undefined ? null : app.secrets.seal(secret),
    });
    await recordActivity(tx, actor.id, caller, 'channels.create', { channelId: row.id, name, kind, plates });
    return shown(tx, row);
  });
}

/** Sets the given fields. @throws AppError `notFound`; `badRequest` as `createChannel` */
export async function updateChannel(
  ctx: ChannelContext,
  { id, ...changes }: UpdateChannelInput,
): Promise<NoticeChannel> {
  const { app, actor, caller } = ctx;
  const { kind, settings: before, secret: sealed } = await getChannelRow(app.db, id);
  const wanted = kindFieldsOf(changes);
  // The address of SLACK and TEAMS is their secret, of which `settings` has the origin.
  const isAddressSecret = kind === 'SLACK' || kind === 'TEAMS';
  const known = isAddressSecret
    ? { url: openSecret(ctx, sealed) ?? '' }
    : { ...before, secret: openSecret(ctx, sealed) };
  const isChanged = Object.keys(wanted).length > 0;
  const { secret, ...settings } = isChanged
    ? await checkFields(ctx, kind, { ...withoutEmpty(known), ...wanted })
    : { ...before, secret: undefined };
  return inTransaction(app.db, async (tx) => {
    const locked = await lockChannel(tx, id);
    const row = await updateChannelRow(tx, locked.id, {
      ...commonFieldsOf(changes),
      ...(isChanged && { settings, failingSince: null, lastError: null }),
      ...(secret !== undefined && { secret: app.secrets.seal(secret) }),
    });
    const details = { channelId: row.id, name: row.name, fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'channels.update', details);
    if (changes.enabled) await wakeChannels(tx, [row.id]);
    return shown(tx, row);
  });
}

/** @throws AppError `notFound`; `conflict` while a policy names it */
export function deleteChannel({ app, actor, caller }: ActorContext, id: string): Promise<string> {
  return inTransaction(app.db, async (tx) => {
    await requireUnnamed(tx, 'channelId', id);
    const { id: channelId, name, kind } = await deleteChannelRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'channels.delete', { channelId, name, kind });
    return channelId;
  });
}

/**
 * Sends a message of kind TEST to the recipients of a channel, by the same path as all others.
 * @returns the ids of the messages
 * @throws AppError `notFound`; `badRequest` while it is disabled, or without a recipient
 */
export function testChannel(
  { app, actor, caller }: ActorContext,
  { id, to }: { readonly id: string; readonly to?: string | undefined },
): Promise<string[]> {
  return inTransaction(app.db, async (tx) => {
    const channel = await getChannelRow(tx, id);
    if (!channel.enabled)
      throw new AppError('badRequest', 'The channel is disabled, so nothing is sent: enable it first');
    const recipients =
      to === undefined ? recipientsOf(channel) : checkRecipients(channel.kind, [to], () => 'to');
    if (to !== undefined && reachedBy[channel.kind] === undefined)
      throw invalidInput('to', 'A channel of this kind has no recipients: omit `to`');
    if (recipients.length === 0)
      throw invalidInput('to', 'The channel has no recipient of its own: name one in `to`');
    const { subject, text } = testText(channel.language, channel.name);
    const ids = await insertNotices(
      tx,
      recipients.map((recipient) => ({
        ...{ groupId: null, step: null, kind: 'TEST' as const, severity: 'LOW' as const },
        ...{ announcedFor: app.clock.now(), channelId: channel.id, channelName: channel.name },
        ...{ userId: null, recipient, language: channel.language, policyName: null, total: 0 },
        ...{ subject, body: text, status: 'PENDING' as const, lastError: null, ack: null },
      })),
    );
    await recordActivity(tx, actor.id, caller, 'channels.test', {
      channelId: channel.id,
      name: channel.name,
    });
    await wakeChannels(tx, [channel.id]);
    return ids.map((each) => each.id);
  });
}

interface Letter {
  /** An e-mail address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly severity: Severity;
}

/**
 * Has a message of kind PLAN sent by the first enabled channel for e-mail, once the transaction commits.
 * @throws AppError `badRequest` without such a channel
 */
export async function sendLetter(
  { clock }: Pick<Core, 'clock'>,
  tx: Transaction,
  { to, subject, text, severity }: Letter,
): Promise<void> {
  const channel = (await listChannelRows(tx)).find(({ kind, enabled }) => kind === 'SMTP' && enabled);
  if (!channel)
    throw new AppError('badRequest', 'No channel for e-mail is enabled: an administrator can add one');
  await insertNotices(tx, [
    {
      ...{ groupId: null, step: null, kind: 'PLAN', severity, announcedFor: clock.now() },
      ...{ channelId: channel.id, channelName: channel.name, userId: null, recipient: to },
      ...{ language: channel.language, policyName: null, total: 0, subject, body: text },
      ...{ status: 'PENDING', lastError: null, ack: null },
    },
  ]);
  await wakeChannels(tx, [channel.id]);
}

/** Makes one message, or the failed ones of a channel, due again under the same ids. @throws AppError `notFound` */
export function redeliverNotices(
  { app, actor, caller }: ActorContext,
  input: RedeliverNoticesInput,
): Promise<{ count: number }> {
  return inTransaction(app.db, async (tx) => {
    if ('id' in input) {
      await redeliverOne(tx, input.id);
      await recordActivity(tx, actor.id, caller, 'notices.redeliver', { noticeId: input.id });
      return { count: 1 };
    }
    const { id: channelId, name } = await getChannelRow(tx, input.channelId);
    const count = await redeliverFailed(tx, channelId);
    await recordActivity(tx, actor.id, caller, 'notices.redeliver', { channelId, name, count });
    return { count };
  });
}

function kindFieldsOf(input: Partial<Record<(typeof KIND_FIELDS)[number], unknown>>): KindFields {
  return Object.fromEntries(
    KIND_FIELDS.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
  );
}

function commonFieldsOf({ name, plates, language, enabled }: Omit<UpdateChannelInput, 'id'>) {
  return {
    ...(name !== undefined && { name }),
    ...(plates !== undefined && { plates }),
    ...(language !== undefined && { language }),
    ...(enabled !== undefined && { enabled }),
  };
}

function withoutEmpty(
  fields: { readonly [Name in keyof KindFields]: KindFields[Name] | null | undefined },
): KindFields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

function openSecret({ app }: ChannelContext, sealed: string | null): string | null {
  return sealed === null ? null : app.secrets.open(sealed);
}

const TELEGRAM_TOKEN = /^\d{1,20}:[\w-]{20,200}$/;
const NEEDS_URL: ReadonlySet<ChannelKind> = new Set(['SLACK', 'TEAMS', 'SMS', 'HTTP']);

/** The fields as they are stored. @throws AppError `badRequest` for those that do not fit the kind */
async function checkFields(
  { app }: ChannelContext,
  kind: ChannelKind,
  given: KindFields,
): Promise<KindFields> {
  const allowed = channelFields[kind];
  const foreign = Object.keys(given).find((name) => !allowed.includes(name));
  if (foreign !== undefined)
    throw invalidInput(foreign, `A channel of kind ${kind} has no ${foreign}: it has ${allowed.join(', ')}`);
  if (kind === 'SMTP' && !app.mailer.isConfigured)
    throw invalidInput('kind', 'No mail server is configured: set SMTP_URL and SMTP_FROM first');
  const { url, secret, to = [], body, headers = {} } = given;
  if (NEEDS_URL.has(kind) && !url) throw invalidInput('url', 'Name the address of the receiver');
  if (kind === 'TELEGRAM' && !TELEGRAM_TOKEN.test(secret ?? ''))
    throw invalidInput('secret', 'Name the token of the bot, such as 123456789:AAE…');
  checkTemplates(kind, given);
  if (url !== undefined) await requireUsable(app.noticeUrls, exampleUrl(url));
  const usesSecret = [url, body, ...Object.values(headers)].some((each) =>
    /\{\{(?:\w+ )?secret\}\}/.test(each ?? ''),
  );
  if (usesSecret && secret === undefined)
    throw invalidInput('secret', 'A template uses the secret: give one');
  const isHeader = Object.values(headers).some((each) => each.includes('{{secret}}'));
  if (isHeader && !HEADER_VALUE.test(secret ?? ''))
    throw invalidInput(
      'secret',
      'The secret is part of a header, and has a line break or another character that a header cannot have',
    );
  if (kind === 'SLACK' || kind === 'TEAMS') return { url: new URL(url ?? '').origin, secret: url ?? '' };
  const { secret: _, ...settings } = given;
  const checked = allowed.includes('to') ? { to: checkRecipients(kind, to, (n) => `to.${n}`) } : {};
  return { ...settings, ...checked, ...(secret !== undefined && { secret }) };
}

function checkTemplates(kind: ChannelKind, { url, method = 'POST', headers = {}, body }: KindFields): void {
  const isTemplate = kind === 'SMS' || kind === 'HTTP';
  const flaw = url === undefined ? null : isTemplate ? urlFlaw(url) : plainUrlFlaw(url);
  if (flaw !== null) throw invalidInput('url', flaw);
  for (const [name, value] of Object.entries(headers)) {
    const said = headerFlaw(value);
    if (said !== null) throw invalidInput(`headers.${name}`, said);
  }
  if (body === undefined) return;
  if (method === 'GET')
    throw invalidInput('body', 'A GET request has no body: use {{url subject}} in the address');
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const said = bodyFlaw(body, type === undefined || type.includes('json'));
  if (said !== null) throw invalidInput('body', said);
}

function plainUrlFlaw(url: string): string | null {
  return url.includes('{{') ? 'The address of this kind of channel contains no {{…}}' : null;
}

function checkRecipients(
  kind: ChannelKind,
  to: readonly string[],
  fieldOf: (position: number) => string,
): string[] {
  const contact = reachedBy[kind];
  if (contact === undefined) return [];
  return to.map((each, n) => {
    const address = contactAddress(contact, each);
    if (address === null) throw invalidInput(fieldOf(n), ADDRESS_EXAMPLES[contact]);
    return address;
  });
}

async function shown(db: Parameters<typeof showChannels>[0], row: ChannelRow): Promise<NoticeChannel> {
  const [channel] = await showChannels(db, [row]);
  if (!channel) throw new Error('A channel has disappeared');
  return channel;
}
