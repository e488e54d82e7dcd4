import {
  CHANNEL_URL_MAX,
  type ChannelKind,
  type ChannelSettings,
  DEFAULT_BODY,
  type NoticeKind,
  type TemplateName,
  templateNames,
} from '@gantry/contract/notices';
import type { OutboundRequest } from '../platform/outbound.ts';

// The request of a channel for a message. Pure.

/** A channel with its secret. */
export interface OpenChannel {
  readonly kind: ChannelKind;
  readonly settings: ChannelSettings;
  readonly secret: string | null;
}

/** A message for one recipient. */
export interface Message {
  readonly id: string;
  readonly kind: NoticeKind | 'CODE';
  readonly severity: string;
  readonly policy: string;
  /** Number of alarms. */
  readonly total: number;
  readonly subject: string;
  readonly text: string;
  /** An address or number; '' for the channel itself. */
  readonly recipient: string;
  /** The page of the alarms in the console; '' if its address is not known. */
  readonly link: string;
  /** The link by which its recipient acknowledges the alarms; null if there is none. */
  readonly acknowledge: string | null;
}

const TELEGRAM = 'https://api.telegram.org';
const TELEGRAM_MAX = 4_096;
const JSON_TYPE = { 'content-type': 'application/json' };
const DEFAULT_SMS_BODY = '{"to":{{json recipient}},"text":{{json text}}}';

/** The request that sends a message through a channel other than SMTP. */
export function requestOf(channel: OpenChannel, message: Message): OutboundRequest {
  const { kind, settings, secret } = channel;
  const { subject, text, recipient, id } = message;
  const own = { 'x-gantry-notice': id };
  switch (kind) {
    case 'SLACK':
      return posted(secret ?? '', { text: forSlack(`*${subject}*\n${text}`) }, own);
    case 'TEAMS':
      return posted(secret ?? '', adaptiveCard(message), own);
    case 'TELEGRAM': {
      const url = `${(settings.url ?? TELEGRAM).replace(/\/$/, '')}/bot${secret ?? ''}/sendMessage`;
      const shown = cut(`${subject}\n\n${text}`, TELEGRAM_MAX);
      return posted(
        url,
        { chat_id: recipient, text: shown, link_preview_options: { is_disabled: true } },
        own,
      );
    }
    default: {
      const isSms = kind === 'SMS';
      const sms = isSms ? smsOf(subject, message.acknowledge) : null;
      const values = valuesOf(sms === null ? message : { ...message, subject: sms, text: sms }, secret);
      const method = settings.method ?? 'POST';
      const body = settings.body ?? (isSms ? DEFAULT_SMS_BODY : DEFAULT_BODY);
      return {
        url: fill(settings.url ?? '', values),
        method,
        headers: {
          ...(method !== 'GET' && JSON_TYPE),
          ...own,
          ...Object.fromEntries(
            Object.entries(settings.headers ?? {}).map(([name, value]) => [
              name.toLowerCase(),
              value.replaceAll('{{secret}}', values.secret),
            ]),
          ),
        },
        body: method === 'GET' ? null : fill(body, values),
      };
    }
  }
}

function posted(url: string, body: object, headers: Record<string, string>): OutboundRequest {
  return { url, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

/** Slack reads these three characters as markup. */
function forSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A card without Markdown, which Teams would otherwise read in the texts of rules. */
function adaptiveCard({ subject, text, link, acknowledge }: Message): object {
  const block = (part: string, more: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: part, ...more }],
  });
  const url = acknowledge ?? link;
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [block(subject, { weight: 'Bolder' }), ...text.split('\n\n').map((part) => block(part))],
          ...(url !== '' && { actions: [{ type: 'Action.OpenUrl', title: 'Gantry', url }] }),
        },
      },
    ],
  };
}

type Values = Readonly<Record<TemplateName, string>>;

function valuesOf({ total, ...message }: Message, secret: string | null): Values {
  return { ...message, total: String(total), secret: secret ?? '' };
}

const PLACEHOLDER = /\{\{(json|url) (\w{1,20})\}\}/g;

/** The template with its values, each escaped as the template says. */
export function fill(template: string, values: Values): string {
  return template.replaceAll(PLACEHOLDER, (whole, form: string, name: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name as TemplateName];
    if (form === 'url') return encodeURIComponent(value.toWellFormed());
    return name === 'total' ? value : JSON.stringify(value);
  });
}

/** Values with every character that a template must escape. */
const AWKWARD: Values = {
  ...(Object.fromEntries(templateNames.map((name) => [name, 'a"\\\n&#/?é'])) as Values),
  total: '1',
};

/** What is wrong with the template of a body; null if nothing is. @param isJson whether it has to be JSON */
export function bodyFlaw(template: string, isJson: boolean): string | null {
  const flaw = placeholderFlaw(template, 'json');
  if (flaw !== null || !isJson) return flaw;
  try {
    JSON.parse(fill(template, AWKWARD));
    return null;
  } catch {
    return 'With its values, the body is not JSON: write {{json subject}} without quotes around it, or set the header Content-Type';
  }
}

/** What is wrong with the template of an address; null if nothing is. */
export function urlFlaw(template: string): string | null {
  if (/^[a-z]{1,10}:\/*[^/?#]*\{\{/i.test(template))
    return 'The host of the address cannot depend on the message: use {{url name}} after it';
  const flaw = placeholderFlaw(template, 'url');
  if (flaw !== null) return flaw;
  return template.includes('{{json') ? 'Write {{url name}} instead of {{json name}} in an address' : null;
}

/** An address as it may be sent to, to check it. */
export function exampleUrl(template: string): string {
  return fill(template, AWKWARD).slice(0, CHANNEL_URL_MAX * 4);
}

/** What is wrong with the value of a header; null if nothing is. */
export function headerFlaw(value: string): string | null {
  return value.replaceAll('{{secret}}', '').includes('{{')
    ? 'The value of a header can contain {{secret}} and nothing else of the message'
    : null;
}

function placeholderFlaw(template: string, form: 'json' | 'url'): string | null {
  for (const [whole, , name = ''] of template.matchAll(PLACEHOLDER)) {
    if (!(templateNames as readonly string[]).includes(name))
      return `There is no ${whole}: use one of ${templateNames.join(', ')}`;
  }
  return template.replaceAll(PLACEHOLDER, '').includes('{{')
    ? `After {{ comes a form and a name, as in {{${form} subject}}`
    : null;
}

// SMS: GSM 03.38 with 160 characters, or UCS-2 with 70.

const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_SIZES: ReadonlyMap<string, number> = new Map([
  ...[...GSM_BASIC].map((each) => [each, 1] as const),
  // Each of them takes an escape character, too.
  ...[...'\f^{}\\[~]|€'].map((each) => [each, 2] as const),
]);
const MAX_GSM = 160;
const MAX_UCS2 = 70;

/** The content of one SMS: the text and, if it leaves at least half of the room, a link. */
export function smsOf(text: string, link: string | null): string {
  const said = fitting(text, 0);
  if (link === null) return said;
  const tail = `\n${link}`;
  const isGsm = isGsmText(text + tail);
  const size = isGsm ? gsmSize(tail) : tail.length;
  return size > (isGsm ? MAX_GSM : MAX_UCS2) / 2 ? said : fitting(text, size, isGsm) + tail;
}

function fitting(text: string, taken: number, isGsm = isGsmText(text)): string {
  const most = (isGsm ? MAX_GSM : MAX_UCS2) - taken;
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += isGsm ? (GSM_SIZES.get(character) ?? 1) : character.length;
    if (size > most) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function isGsmText(text: string): boolean {
  return [...text].every((character) => GSM_SIZES.has(character));
}

function gsmSize(text: string): number {
  return [...text].reduce((sum, character) => sum + (GSM_SIZES.get(character) ?? 0), 0);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
