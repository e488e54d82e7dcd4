import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A message as the server received it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The headers in lower case, unwrapped. */
  readonly headers: ReadonlyMap<string, string>;
  readonly raw: string;
  /** The decoded part of the type, such as `text/plain`; empty without one. */
  part(type: string): Buffer;
}

/** A real mail server on this machine. */
export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly messages: ReceivedMail[];
  /** Number of connections that were made. */
  readonly connections: number;
  /** Answers the next `times` recipients, or messages, with this code. */
  refuse(at: 'recipient' | 'message', code: number, times?: number): void;
  /** Answers no message before the promise resolves. */
  hold(until: Promise<unknown>): void;
}

const unwrapped = (head: string): ReadonlyMap<string, string> =>
  new Map(
    head
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
      }),
  );

const split = (raw: string): readonly [ReadonlyMap<string, string>, string] => {
  const at = raw.indexOf('\r\n\r\n');
  return [unwrapped(raw.slice(0, at)), raw.slice(at + 4)];
};

const decode = (body: string, encoding: string | undefined): Buffer => {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
};

const find = (raw: string, type: string): Buffer | null => {
  const [headers, body] = split(raw);
  const given = headers.get('content-type') ?? '';
  if (given.startsWith(type)) return decode(body, headers.get('content-transfer-encoding'));
  const boundary = /boundary="([^"]+)"/.exec(given)?.[1];
  if (boundary === undefined) return null;
  for (const part of body.split(`--${boundary}\r\n`).slice(1)) {
    const found = find(part.split(`\r\n--${boundary}`)[0] ?? '', type);
    if (found) return found;
  }
  return null;
};

const refusal = (code: number): Error =>
  Object.assign(new Error(code === 421 ? 'Try again later' : 'No such mailbox'), { responseCode: code });

/** @param options those of the server, such as its certificate, or what it does with a message */
export const startMailServer = async (options: SMTPServerOptions = {}, at = 0): Promise<MailServer> => {
  const messages: ReceivedMail[] = [];
  const refused: { at: string; code: number }[] = [];
  let connections = 0;
  let held: Promise<unknown> = Promise.resolve();
  const next = (at: string): Error | null => {
    const found = refused.findIndex((each) => each.at === at);
    return found === -1 ? null : refusal(refused.splice(found, 1)[0]?.code ?? 0);
  };
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: options.key === undefined,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onRcptTo: (_address, _session, done) => done(next('recipient')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        await held;
        const error = next('message');
        if (error) return done(error);
        const raw = Buffer.concat(chunks).toString('latin1');
        const { mailFrom, rcptTo } = session.envelope;
        messages.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          headers: split(raw)[0],
          raw,
          part: (type) => find(raw, type) ?? Buffer.alloc(0),
        });
        return done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    messages,
    get connections() {
      return connections;
    },
    refuse(at, code, times = 1) {
      for (let number = 0; number < times; number++) refused.push({ at, code });
    },
    hold(until) {
      held = until;
    },
    async [Symbol.asyncDispose]() {
      for (const each of server.connections) each.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
