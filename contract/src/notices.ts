import { z } from 'zod';
import { severity } from './events.ts';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { showsPlate } from './plate-fields.ts';
import { text, trimmedText } from './text.ts';
import { timeRange } from './time.ts';

// Who is told about alarms, and how: channels, the contacts of users, and the messages (notices).

export const noticeLanguages = ['en', 'tr', 'ar'] as const;
export const noticeLanguage = z.enum(noticeLanguages);
export type NoticeLanguage = z.infer<typeof noticeLanguage>;

export const channelKinds = ['SMTP', 'SLACK', 'TEAMS', 'TELEGRAM', 'SMS', 'HTTP'] as const;
export const channelKind = z
  .enum(channelKinds)
  .describe(
    'SMTP: e-mail through `SMTP_URL`. SLACK: an incoming webhook. TEAMS: a workflow that posts an adaptive card. TELEGRAM: a bot. SMS: the HTTP interface of an SMS gateway. HTTP: any other receiver.',
  );
export type ChannelKind = z.infer<typeof channelKind>;

export const MAX_CHANNELS = 20;
/** Maximum number of recipients of a channel itself. */
export const MAX_CHANNEL_RECIPIENTS = 20;
/** Maximum length of the address of a receiver and of the text of a body, in characters. */
export const CHANNEL_URL_MAX = 2048;
export const CHANNEL_BODY_MAX = 10_000;

/** The names that templates may use. `recipient` is the address or number; `link` the console, or empty. */
export const templateNames = [
  'subject',
  'text',
  'recipient',
  'secret',
  'id',
  'kind',
  'severity',
  'policy',
  'total',
  'link',
] as const;
export type TemplateName = (typeof templateNames)[number];

/** The body of an HTTP channel that has none of its own. */
export const DEFAULT_BODY =
  '{"id":{{json id}},"kind":{{json kind}},"severity":{{json severity}},"policy":{{json policy}},"total":{{json total}},"subject":{{json subject}},"text":{{json text}},"link":{{json link}}}';

/** Which fields of the input each kind of channel has, besides those of all. */
export const channelFields: Readonly<Record<ChannelKind, readonly string[]>> = {
  SMTP: ['to'],
  SLACK: ['url'],
  TEAMS: ['url'],
  TELEGRAM: ['url', 'secret', 'to'],
  SMS: ['url', 'method', 'headers', 'body', 'secret', 'to'],
  HTTP: ['url', 'method', 'headers', 'body', 'secret'],
};

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** The characters that the value of a header can have. */
export const HEADER_VALUE = /^[\x20-\x7e]*$/;
/** Headers that belong to the connection or are computed. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

const headers = z
  .record(z.string(), z.string().max(2_000))
  .refine((given) => Object.keys(given).length <= 20, 'Use at most 20 headers')
  .check((ctx) => {
    for (const [name, value] of Object.entries(ctx.value)) {
      const flaw = !HEADER_NAME.test(name)
        ? 'A header has a name such as X-Api-Key'
        : OWN_HEADERS.has(name.toLowerCase())
          ? `The header ${name} is set by the service`
          : HEADER_VALUE.test(value)
            ? null
            : `The value of ${name} has characters that a header cannot have`;
      if (flaw) ctx.issues.push({ code: 'custom', message: flaw, input: value });
    }
  });

const method = z.enum(['GET', 'POST', 'PUT']);
const recipients = z
  .array(trimmedText(254, 1))
  .max(MAX_CHANNEL_RECIPIENTS, `Name at most ${MAX_CHANNEL_RECIPIENTS} recipients`)
  .transform((given) => [...new Set(given)])
  .describe(
    'The recipients of the channel itself: e-mail addresses, chat ids or numbers. Users are reached at their contacts.',
  );
const plates = z
  .enum(['HIDE', 'SHOW'])
  .describe('Whether messages contain number plates. Users from whom plates are hidden are never sent any.');

export const noticeChannel = z.object({
  id: z.string(),
  name: z.string(),
  kind: channelKind,
  url: z.string().nullable().describe('Of SLACK and TEAMS only the origin: the rest is the secret.'),
  method: method.nullable(),
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  to: z.array(z.string()),
  hasSecret: z.boolean(),
  plates,
  language: noticeLanguage.describe('Of messages to the recipients of the channel itself.'),
  enabled: z.boolean(),
  failingSince: z.date().nullable().describe('Since when no message was taken; null while it works.'),
  lastError: z.string().nullable().describe('Why the last message was not taken.'),
  createdBy: person.nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type NoticeChannel = z.infer<typeof noticeChannel>;

const channelInput = {
  url: z
    .string()
    .min(1, 'Must not be empty')
    .max(CHANNEL_URL_MAX, `Use at most ${CHANNEL_URL_MAX} characters`)
    .describe(
      'http or https. After the host, it may contain `{{url name}}` of the names in `body`. Addresses inside the operator’s own network are refused unless `WEBHOOK_ALLOW_HOSTS` names them.',
    ),
  method: method.describe('POST by default.'),
  headers: headers.describe('Values may contain `{{secret}}`.'),
  body: text(CHANNEL_BODY_MAX).describe(
    `The body, with \`{{json name}}\` for a JSON value and \`{{url name}}\` for a URL-encoded one. Names: ${templateNames.join(', ')}.`,
  ),
  to: recipients,
  secret: text(2_000, 1).describe(
    'The token of the bot, or a key of the receiver for `{{secret}}`. It is stored encrypted, and never shown.',
  ),
};

/** The request or the recipients of a channel, as they are stored. */
export interface ChannelSettings {
  /** May contain `{{url name}}`. Of SLACK and TEAMS the origin: the rest is the secret. */
  readonly url?: string;
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly to?: readonly string[];
}

const channelName = trimmedText(100, 1);
export const createChannelInput = z.object({
  name: channelName,
  kind: channelKind,
  url: channelInput.url.optional(),
  method: channelInput.method.optional(),
  headers: channelInput.headers.optional(),
  body: channelInput.body.optional(),
  to: channelInput.to.optional(),
  secret: channelInput.secret.optional(),
  plates: plates.default('HIDE'),
  language: noticeLanguage.default('en'),
  enabled: z.boolean().default(true),
});
export type CreateChannelInput = z.infer<typeof createChannelInput>;

export const updateChannelInput = z.object({
  id,
  name: channelName.optional(),
  url: channelInput.url.optional(),
  method: channelInput.method.optional(),
  headers: channelInput.headers.optional(),
  body: channelInput.body.optional(),
  to: channelInput.to.optional(),
  secret: channelInput.secret.optional(),
  plates: plates.optional(),
  language: noticeLanguage.optional(),
  enabled: z
    .boolean()
    .optional()
    .describe('While false, nothing is sent. What is not sent within a day has failed.'),
});
export type UpdateChannelInput = z.infer<typeof updateChannelInput>;

export const channelList = z.object({ channels: z.array(noticeChannel) });
export const deletedChannel = z.object({ success: z.literal(true), id: z.string() });
export const testChannelInput = z.object({
  id,
  to: trimmedText(254, 1).optional().describe('One recipient, instead of those of the channel itself.'),
});
export const testedChannel = z.object({
  noticeIds: z.array(z.string()).describe('`notices.getById` shows what became of each.'),
});

// Contacts of users.

export const contactKinds = ['EMAIL', 'SMS', 'CHAT'] as const;
export const contactKind = z
  .enum(contactKinds)
  .describe(
    'EMAIL: through a channel SMTP. SMS: a number, through a channel SMS. CHAT: a chat id, through TELEGRAM.',
  );
export type ContactKind = z.infer<typeof contactKind>;
export const MAX_CONTACTS_OF_USER = 5;
export const MAX_CONTACTS = 1_000;

/** How long a code is valid, in minutes, and how many wrong codes end it. */
export const CODE_MINUTES = 15;
export const CODE_TRIES = 5;

const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
export const timeOfDay = z.string().regex(TIME_OF_DAY, 'Use a time of day such as 22:00');
const quiet = z
  .object({ from: timeOfDay, until: timeOfDay })
  .refine(({ from, until }) => from !== until, 'Quiet hours end at another time than they begin')
  .describe('Local times between which only CRITICAL messages are sent; they may include midnight.');
export type QuietHours = z.infer<typeof quiet>;

export const contact = z.object({
  id: z.string(),
  kind: contactKind,
  address: z.string(),
  language: noticeLanguage,
  quiet: quiet.nullable(),
  verifiedAt: z
    .date()
    .nullable()
    .describe('null until the code is confirmed: nothing else is sent to it before.'),
  createdAt: z.date(),
});
export type Contact = z.infer<typeof contact>;

export const contactList = z.object({ contacts: z.array(contact) });
export const createContactInput = z.object({
  kind: contactKind,
  address: trimmedText(254, 1).describe(
    'An e-mail address, a number with the country code such as +90 532 000 00 00, or the id of a chat.',
  ),
  language: noticeLanguage.default('en'),
  quiet: quiet.nullish().transform((value) => value ?? null),
});
export type CreateContactInput = z.infer<typeof createContactInput>;
export const updateContactInput = z.object({
  id,
  language: noticeLanguage.optional(),
  quiet: quiet.nullable().optional(),
});
export type UpdateContactInput = z.infer<typeof updateContactInput>;
export const verifyContactInput = z.object({
  id,
  code: z
    .string()
    .transform((value) => value.replaceAll(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, 'Use the six digits that were sent to the address')),
});
export const deletedContact = z.object({ success: z.literal(true), id: z.string() });

/** The address in the form in which it is stored; null if it is not one. */
export function contactAddress(kind: ContactKind, given: string): string | null {
  if (kind === 'EMAIL') return z.email().max(254).safeParse(given).success ? given : null;
  if (kind === 'CHAT') return /^-?\d{1,20}$/.test(given) ? given : null;
  const number = given.replaceAll(/[\s().-]/g, '').replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : null;
}

/** What an address looks like, for error messages. */
export const ADDRESS_EXAMPLES: Readonly<Record<ContactKind, string>> = {
  EMAIL: 'Use an e-mail address',
  SMS: 'Use a number with the country code, such as +905320000000',
  CHAT: 'Use the id of a chat: a number, such as 123456789',
};

/** The kind of contacts that a kind of channel reaches; none for the others. */
export const reachedBy: Readonly<Partial<Record<ChannelKind, ContactKind>>> = {
  SMTP: 'EMAIL',
  SMS: 'SMS',
  TELEGRAM: 'CHAT',
};

// Notices.

export const noticeKind = z
  .enum(['FIRST', 'CHANGED', 'REPEAT', 'ESCALATED', 'CLEARED', 'SUMMARY', 'TEST', 'PLAN'])
  .describe(
    'TEST: by `channels.test`. PLAN: by a step of a response plan. The others are the messages about a group of alarms.',
  );
export type NoticeKind = z.infer<typeof noticeKind>;
export const noticeStatus = z
  .enum(['PENDING', 'SENT', 'FAILED', 'DROPPED'])
  .describe(
    'PENDING: waiting or being attempted. SENT: taken by the receiver. FAILED: refused for good, or not taken within a day. DROPPED: not to be sent, see `lastError`.',
  );
export type NoticeStatus = z.infer<typeof noticeStatus>;

/** Maximum number of messages to a recipient in an hour, and of those including CRITICAL ones. */
export const MAX_PER_HOUR = 30;
export const MAX_PER_HOUR_CRITICAL = 60;

export const notice = z.object({
  id: z.string().describe('The same at every attempt; also in the Message-ID of e-mail.'),
  groupId: z.string().nullable(),
  step: z.number().nullable().describe('The step of the group of alarms.'),
  kind: noticeKind,
  severity,
  channelId: z.string(),
  channelName: z.string(),
  user: person.nullable(),
  recipient: z.string().describe('The address or number; empty for the channel itself.'),
  subject: showsPlate('digits', z.string()),
  text: showsPlate('digits', z.string()).describe('Without the link by which it can be acknowledged.'),
  status: noticeStatus,
  attempts: z.number().describe('Number of attempts made.'),
  dueAt: z.date().nullable().describe('When the next attempt is due; null if there will be none.'),
  lastError: z.string().nullable(),
  lastAnswer: z.string().nullable().describe('The first 1 KB of the last answer of an HTTP receiver.'),
  acknowledgedAt: z.date().nullable().describe('When its link was used.'),
  createdAt: z.date(),
  sentAt: z.date().nullable(),
});
export type Notice = z.infer<typeof notice>;

export const listNoticesInput = z
  .object({
    ...paging(50),
    channelId: id.optional(),
    userId: id.optional(),
    groupId: id.optional(),
    status: noticeStatus.optional(),
    kind: noticeKind.optional(),
    ...timeRange,
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListNoticesInput = z.infer<typeof listNoticesInput>;
export const noticesPage = z.object({ notices: z.array(notice), ...pageTotals });

export const redeliverNoticesInput = z.union([
  z.object({ id: id.describe('One notice, whatever its status.') }),
  z.object({
    channelId: id,
    status: z.literal('FAILED').describe('All failed ones of the channel of the last day.'),
  }),
]);
export type RedeliverNoticesInput = z.infer<typeof redeliverNoticesInput>;
export const redeliveredNotices = z.object({
  count: z.number().describe('Number of notices that are sent again.'),
});
