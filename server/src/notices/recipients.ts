import type { Severity } from '@gantry/contract/events';
import { type ContactKind, type QuietHours, reachedBy } from '@gantry/contract/notices';
import type { Executor } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { type ChannelRow, findPoliciesNaming } from './channels-store.ts';
import { findReachable, type ReachableUser } from './contacts-store.ts';
import { personOnDuty } from './rotas-store.ts';

// Which channel and address reach whom.

/** Who is told: a user at all confirmed contacts, the recipients of a channel itself, or whoever is on duty. */
export type Target =
  | { readonly userId: string }
  | { readonly channelId: string }
  | { readonly rotaId: string };

/** Why a target, or one of its addresses, is sent nothing. */
export type DropReason =
  | 'UNKNOWN'
  | 'NOBODY_ON_DUTY'
  | 'NO_CONTACT'
  | 'NO_CHANNEL'
  | 'NO_RECIPIENT'
  | 'DISABLED'
  | 'QUIET'
  | 'OVER_LIMIT';

export interface Drop {
  readonly target: Target;
  readonly reason: DropReason;
}

/** Where one message goes. */
export interface Recipient {
  readonly target: Target;
  readonly channel: ChannelRow;
  readonly address: string;
  readonly language: ChannelRow['language'];
  readonly user: ReachableUser | null;
}

/** The recipients of a channel itself: '' if its address is one. */
export function recipientsOf({ kind, settings }: Pick<ChannelRow, 'kind' | 'settings'>): readonly string[] {
  return reachedBy[kind] === undefined ? [''] : (settings.to ?? []);
}

/**
 * The channel through which contacts of a kind are reached: of the enabled ones, the oldest that works, or the oldest.
 * @returns undefined when there is none
 */
export function channelFor(channels: readonly ChannelRow[], kind: ContactKind): ChannelRow | undefined {
  const usable = channels.filter((each) => each.enabled && reachedBy[each.kind] === kind);
  return usable.find(({ failingSince }) => failingSince === null) ?? usable[0];
}

/** @throws AppError `conflict` while a policy names a channel or a rota: without it, alarms would be told to nobody */
export async function requireUnnamed(tx: Executor, of: 'channelId' | 'rotaId', id: string): Promise<void> {
  const names = await findPoliciesNaming(tx, of, id);
  if (names.length === 0) return;
  const noun = of === 'channelId' ? 'channel' : 'rota';
  throw new AppError(
    'conflict',
    `Policies name this ${noun} (${names.join(', ')}): take it out of their steps first`,
  );
}

/** What decides who is told. */
export interface Addressing {
  readonly channels: readonly ChannelRow[];
  readonly severity: Severity;
  /** The local time as HH:MM, for quiet hours. */
  readonly timeOfDay: string;
}

/**
 * The recipients of targets, each address of a channel once, and what is sent to nobody.
 * @param at when somebody is on duty, in Unix milliseconds
 */
export async function findRecipients(
  tx: Executor,
  to: readonly Target[],
  at: number,
  addressing: Addressing,
): Promise<{ recipients: Recipient[]; dropped: Drop[] }> {
  const wanted: { readonly target: Target; readonly userId: string | null | undefined }[] = [];
  for (const target of to) wanted.push({ target, userId: await userOf(tx, target, at) });
  const users = await findReachable(
    tx,
    wanted.flatMap(({ userId }) => userId ?? []),
  );
  const found = wanted.map(({ target, userId }) => {
    if ('channelId' in target) return ofChannel(target, target.channelId, addressing.channels);
    if (userId === null) return dropping(target, 'NOBODY_ON_DUTY');
    const user = users.find((each) => each.userId === userId);
    return user ? ofUser(target, user, addressing) : dropping(target, 'UNKNOWN');
  });
  return {
    recipients: unique(found.flatMap((each) => each.recipients)),
    dropped: found.flatMap((each) => each.dropped),
  };
}

/** The user of a target; null if nobody is on duty, undefined for a channel or an unknown rota. */
async function userOf(tx: Executor, target: Target, at: number): Promise<string | null | undefined> {
  if ('userId' in target) return target.userId.toLowerCase();
  return 'rotaId' in target ? personOnDuty(tx, target.rotaId, at) : undefined;
}

interface Found {
  readonly recipients: readonly Recipient[];
  readonly dropped: readonly Drop[];
}

function dropping(target: Target, reason: DropReason): Found {
  return { recipients: [], dropped: [{ target, reason }] };
}

function ofChannel(target: Target, channelId: string, channels: readonly ChannelRow[]): Found {
  const channel = channels.find(({ id }) => id === channelId.toLowerCase());
  if (!channel) return dropping(target, 'UNKNOWN');
  if (!channel.enabled) return dropping(target, 'DISABLED');
  const addresses = recipientsOf(channel);
  if (addresses.length === 0) return dropping(target, 'NO_RECIPIENT');
  const { language } = channel;
  return {
    recipients: addresses.map((address) => ({ target, channel, address, language, user: null })),
    dropped: [],
  };
}

function ofUser(target: Target, user: ReachableUser, { channels, severity, timeOfDay }: Addressing): Found {
  if (user.contacts.length === 0) return dropping(target, 'NO_CONTACT');
  const recipients: Recipient[] = [];
  const dropped: Drop[] = [];
  for (const { kind, address, language, quiet } of user.contacts) {
    const channel = channelFor(channels, kind);
    if (!channel) dropped.push({ target, reason: 'NO_CHANNEL' });
    else if (severity !== 'CRITICAL' && isQuiet(quiet, timeOfDay)) dropped.push({ target, reason: 'QUIET' });
    else recipients.push({ target, channel, address, language, user });
  }
  return { recipients, dropped };
}

/** Whether a local time (HH:MM) is within quiet hours. */
export function isQuiet(quiet: QuietHours | null, time: string): boolean {
  if (!quiet) return false;
  const { from, until } = quiet;
  return from < until ? from <= time && time < until : time >= from || time < until;
}

/** Each address of a channel once, for a user rather than for the channel itself. */
function unique(recipients: readonly Recipient[]): Recipient[] {
  const byAddress = new Map<string, Recipient>();
  for (const each of recipients) {
    const key = `${each.channel.id} ${each.address}`;
    const known = byAddress.get(key);
    if (!known || (known.user === null && each.user !== null)) byAddress.set(key, each);
  }
  return [...byAddress.values()];
}
