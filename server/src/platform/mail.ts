import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Config } from './config.ts';
import { safeText } from './describe-error.ts';
import { isThisMachine } from './hosts.ts';

/** A message to one recipient. */
export interface Mail {
  /** An address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Plain HTML that loads nothing. @default the paragraphs and links of the text */
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Such as `<notice-7@gantry>`: the same for each attempt to send one message, so that mail programs show it once.
   * @default a random one
   */
  readonly messageId?: string;
  readonly attachments?: readonly MailAttachment[];
}

export interface MailAttachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** Whether the mail server took a message. If the failure is permanent, another attempt will fail, too. */
export type MailResult =
  | {
      readonly accepted: true;
      /** The last line that the server answered, as `250 2.0.0 Ok: queued as 12345`. */
      readonly response: string;
    }
  | { readonly accepted: false; readonly isPermanent: boolean; readonly reason: string };

/** Sends e-mail. Disposing it waits for messages that are being sent, two seconds at most. */
export interface Mailer extends AsyncDisposable {
  /** Whether there is a mail server. Without one, every message is refused. */
  readonly isConfigured: boolean;
  /**
   * Makes one attempt to send a message. It never throws; who sends must try again after a failure that is not
   * permanent.
   * @param ending aborts when the process is about to end, which the attempt delays by two seconds at most
   */
  send(mail: Mail, ending?: AbortSignal): Promise<MailResult>;
}

export interface MailSettings {
  /** `smtps:`, or `smtp:` with STARTTLS, which is required unless the host is this machine. */
  readonly url: string | undefined;
  readonly from: { readonly name: string; readonly address: string } | undefined;
  /** Certificates (PEM) that sign the certificate of the server. @default those that Node.js trusts */
  readonly ca?: Buffer | undefined;
  /** The time for the header Date, in Unix milliseconds. */
  readonly now: () => number;
  /** Maximum duration of sending one message, in milliseconds. */
  readonly limitMs: number;
}

const MAX_CONNECTIONS = 2;
const IDLE_CONNECTION_MS = 10_000;
const CONNECT_MS = 10_000;
/** Maximum wait for the next bytes of the server: some check a message for malware before they answer. */
const SILENCE_MS = 30_000;
const FAREWELL_MS = 2_000;
const MAX_REASON = 500;

const NOT_CONFIGURED = 'No mail server is configured: set SMTP_URL and SMTP_FROM';

/** The settings of mail. @throws Error when the file with the certificates cannot be read */
export async function mailSettings(config: Config): Promise<Pick<MailSettings, 'url' | 'from' | 'ca'>> {
  const { SMTP_URL: url, SMTP_FROM: from, SMTP_CA_FILE: file } = config;
  if (file === undefined) return { url, from };
  const ca = await readFile(file).catch((cause: unknown) => {
    throw new Error(`SMTP_CA_FILE cannot be read: ${file}`, { cause });
  });
  return { url, from, ca };
}

export function createMailer(settings: MailSettings, log: Logger): Mailer {
  const { url, from, now, limitMs } = settings;
  if (url === undefined || from === undefined) {
    return {
      isConfigured: false,
      send: async () => ({ accepted: false, isPermanent: true, reason: NOT_CONFIGURED }),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const transport = createTransport({ ...serverAt(url, settings.ca), ...LIMITS });
  const closing = new AbortController();
  const sending = new Set<Promise<unknown>>();
  const note = noteChanges(log);

  const attempt = async (mail: Mail, ending?: AbortSignal): Promise<MailResult> => {
    const giveUp = new AbortController();
    let farewell: NodeJS.Timeout | undefined;
    const onEnding = (): void => {
      farewell = setTimeout(() => giveUp.abort(), FAREWELL_MS);
    };
    ending?.addEventListener('abort', onEnding);
    if (ending?.aborted) onEnding();
    // Held until the attempt is over: in Node.js 20, AbortSignal.any does not keep a time limit from being collected.
    const limit = AbortSignal.timeout(limitMs);
    try {
      const { response } = await transport.sendMail({
        ...contentOf(mail),
        from: { ...from },
        envelope: { from: from.address, to: [mail.to] },
        date: new Date(now()),
        signal: AbortSignal.any([limit, giveUp.signal, closing.signal]),
      });
      note(null);
      return { accepted: true, response: safeText(response).slice(0, MAX_REASON) };
    } catch (error) {
      const isPermanent = isPermanentFailure(error);
      const reason =
        limit.aborted || giveUp.signal.aborted || closing.signal.aborted
          ? 'The mail server did not take the message in time'
          : reasonOf(error);
      // A permanent failure is one of the message, and the server works.
      note(isPermanent ? null : reason);
      return { accepted: false, isPermanent, reason };
    } finally {
      ending?.removeEventListener('abort', onEnding);
      clearTimeout(farewell);
    }
  };

  return {
    isConfigured: true,
    async send(mail, ending) {
      const flaw = flawOf(mail);
      if (flaw !== null) return { accepted: false, isPermanent: true, reason: flaw };
      const result = attempt(mail, ending);
      sending.add(result);
      return result.finally(() => sending.delete(result));
    },
    async [Symbol.asyncDispose]() {
      const giveUp = setTimeout(() => closing.abort(), FAREWELL_MS);
      await Promise.allSettled(sending);
      clearTimeout(giveUp);
      transport.close({ force: true });
    },
  };
}

/** Maximum duration of looking whether a mail server can be used, in milliseconds. */
const VERIFY_MS = 4_000;

/** Connects to the mail server and logs in, without sending anything. @returns why e-mail cannot be sent; null if it can */
export async function mailServerFailure({
  url,
  ca,
}: Pick<MailSettings, 'url' | 'ca'>): Promise<string | null> {
  if (url === undefined) return NOT_CONFIGURED;
  const transport = createTransport({ ...serverAt(url, ca), ...LIMITS, pool: false });
  const late = new AbortController();
  try {
    return await Promise.race([
      transport.verify().then(() => null),
      sleep(VERIFY_MS, 'The mail server did not answer in time', { signal: late.signal, ref: false }),
    ]);
  } catch (error) {
    return reasonOf(error);
  } finally {
    late.abort();
    transport.close();
  }
}

const LIMITS = {
  pool: true,
  maxConnections: MAX_CONNECTIONS,
  idleTimeout: IDLE_CONNECTION_MS,
  // For a connection that ended before a byte of the message was sent; later, the server may have taken the message.
  maxRequeues: 1,
  connectionTimeout: CONNECT_MS,
  greetingTimeout: CONNECT_MS,
  dnsTimeout: CONNECT_MS,
  socketTimeout: SILENCE_MS,
  disableFileAccess: true,
  disableUrlAccess: true,
} as const;

/** The options of the transport for a checked URL. */
function serverAt(url: string, ca: Buffer | undefined) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const isLocal = isThisMachine(hostname);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLocal,
    // A mail server on this machine may have a certificate that nobody signed.
    ignoreTLS: !secure && isLocal,
    tls: { minVersion: 'TLSv1.2' as const, ...(ca && { ca }) },
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
  };
}

function contentOf({ to, subject, text, html, headers, messageId, attachments = [] }: Mail) {
  return {
    to: { name: '', address: to },
    subject,
    text,
    html: html ?? htmlOf(text),
    // RFC 3834: keeps automatic answers away.
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    ...(messageId !== undefined && { messageId }),
    attachments: attachments.map((each) => ({ ...each })),
  };
}

const ADDRESS = z.email().max(254);
const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
const MESSAGE_ID = /^<[\w.+-]{1,100}@[\w.-]{1,100}>$/;
const LOADS =
  /<\s{0,10}(?:img|link|script|iframe|object|embed|video|audio|svg|base|form)\b|\ssrc\s{0,10}=|url\s{0,10}\(|@import/i;

/** Headers that this file sets, or by which a message would reach others. */
const OWN_HEADERS =
  /^(?:to|cc|bcc|from|sender|reply-to|return-path|subject|date|message-id|received|content-.*|mime-version|resent-.*|dkim-.*)$/i;

/** Why a message cannot be sent as it is; null if it can. */
function flawOf({ to, subject, html, headers = {}, messageId, attachments = [] }: Mail): string | null {
  if (!ADDRESS.safeParse(to).success) return 'The recipient is not an e-mail address';
  if (hasControls(subject)) return 'The subject contains a line break or another control character';
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name)) return 'A header has a name that cannot be used';
    if (hasControls(value)) return `The header ${name} contains a line break or another control character`;
  }
  if (messageId !== undefined && !MESSAGE_ID.test(messageId))
    return 'The id of the message does not have the form <name@host>';
  if (attachments.some(({ filename, contentType }) => hasControls(filename + contentType)))
    return 'The name of an attachment contains a line break or another control character';
  return html !== undefined && LOADS.test(html) ? 'The HTML would load something' : null;
}

function hasControls(value: string): boolean {
  return /[\p{Cc}\u2028\u2029]/u.test(value);
}

const LINK = /https?:\/\/[^\s<>"']+/g;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text as HTML: its paragraphs, each in the direction of its script, and its links. */
function htmlOf(text: string): string {
  const escaped = text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
  const paragraphs = escaped
    .split(/\n{2,}/)
    .map(
      (each) => `<p dir="auto">${each.replaceAll(LINK, '<a href="$&">$&</a>').replaceAll('\n', '<br>')}</p>`,
    );
  return `<!doctype html><html><head><meta charset="utf-8"></head><body>${paragraphs.join('\n')}</body></html>`;
}

/** What nodemailer adds to its errors. */
interface MailError {
  readonly code?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

/**
 * Whether another attempt to send the same message must fail, too: the server refused the message or its recipient
 * (RFC 5321: 5yz), and not a login, and not because of the state of the connection (503).
 */
function isPermanentFailure(error: unknown): boolean {
  const { code, responseCode } = error as MailError;
  if (code === 'EMESSAGE' && responseCode === undefined) return true;
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return false;
  return (
    typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600 && responseCode !== 503
  );
}

/** Says why, in one or two sentences without addresses and passwords. */
function reasonOf(error: unknown): string {
  const { code } = error as MailError;
  const text =
    code === 'EAUTH'
      ? `The mail server refused the user or the password of SMTP_URL: ${safeText(error)}`
      : safeText(error);
  return text.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON);
}

/** Logs when sending begins to fail and when it works again. */
function noteChanges(log: Logger): (failure: string | null) => void {
  let isFailing = false;
  return (failure) => {
    if (failure !== null && !isFailing) log.warn({ reason: failure }, 'e-mail cannot be sent');
    if (failure === null && isFailing) log.info('e-mail is sent again');
    isFailing = failure !== null;
  };
}
