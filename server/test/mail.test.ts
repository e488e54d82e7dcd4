import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkMachine } from '../src/operations/doctor/diagnose.ts';
import { readConfig } from '../src/platform/config.ts';
import { createMailer, type Mail, type MailSettings } from '../src/platform/mail.ts';
import { certificatesIn, hasOpenssl } from './certificates.ts';
import { collectGarbage } from './collect-garbage.ts';
import { eventually, startGantry } from './harness.ts';
import { startMailServer } from './mail-server.ts';

const NOW = Date.UTC(2026, 10, 28, 11, 30);
const MAIL: Mail = { to: 'nurse@example.org', subject: 'Sensor 7', text: 'Silent since 11:20.' };

const mailerTo = (url: string, settings: Partial<MailSettings> = {}, log = pino({ level: 'silent' })) =>
  createMailer(
    {
      url,
      from: { name: 'Gantry "East"', address: 'gantry@example.org' },
      now: () => NOW,
      limitMs: 20_000,
      ...settings,
    },
    log,
  );

/** A mailer and its server, which are closed together. */
const start = async (options: SMTPServerOptions = {}, settings: Partial<MailSettings> = {}) => {
  const server = await startMailServer(options);
  const mailer = mailerTo(server.url, settings);
  const close = async (): Promise<void> => {
    await mailer[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { server, mailer, [Symbol.asyncDispose]: close };
};

describe('a message', () => {
  it('arrives with its texts, headers, date and id, as sent automatically', async () => {
    await using used = await start();
    const text =
      'Kamera 7 çalışmıyor.\n.\nنص عربي <b> & "x"\n\nhttps://gantry.example.org/incidents/7?a=1&b=2';
    const result = await used.mailer.send({
      ...MAIL,
      subject: 'Olay açıldı: نفق شرقي',
      text,
      headers: { 'X-Gantry-Notice': '7' },
      messageId: '<notice-7@gantry.example.org>',
    });
    expect(result).toMatchObject({ accepted: true });
    const [received] = used.server.messages;
    expect(received).toMatchObject({ from: 'gantry@example.org', to: ['nurse@example.org'] });
    expect(Object.fromEntries(received?.headers ?? [])).toMatchObject({
      from: '"Gantry \\"East\\"" <gantry@example.org>',
      to: 'nurse@example.org',
      date: 'Sat, 28 Nov 2026 11:30:00 +0000',
      'message-id': '<notice-7@gantry.example.org>',
      'auto-submitted': 'auto-generated',
      'x-gantry-notice': '7',
      'mime-version': '1.0',
    });
    const words = received?.headers.get('subject')?.matchAll(/=\?UTF-8\?B\?([^?]+)\?=/gi) ?? [];
    const subject = Buffer.concat([...words].map(([, word]) => Buffer.from(String(word), 'base64')));
    expect(subject.toString()).toBe('Olay açıldı: نفق شرقي');
    expect(received?.part('text/plain').toString().replaceAll('\r\n', '\n').trimEnd()).toBe(text);
    const html = received?.part('text/html').toString();
    expect(html).toContain('نص عربي &lt;b&gt; &amp; &quot;x&quot;');
    expect(html).toContain('<a href="https://gantry.example.org/incidents/7?a=1&amp;b=2">');
    expect(html).not.toMatch(/src=|<img|<link|style=/);
  });

  it('carries attachments', async () => {
    await using used = await start();
    const content = Buffer.from([0, 255, 13, 10, 46, 13, 10]);
    const file = { filename: 'rapor ş.pdf', content, contentType: 'application/pdf' };
    expect(await used.mailer.send({ ...MAIL, attachments: [file] })).toMatchObject({ accepted: true });
    expect(used.server.messages[0]?.part('application/pdf')).toEqual(content);
  });

  it('shares at most two connections with others', async () => {
    await using used = await start();
    const results = await Promise.all(Array.from({ length: 20 }, () => used.mailer.send(MAIL)));
    expect(results).toMatchObject(results.map(() => ({ accepted: true })));
    expect(used.server.messages).toHaveLength(20);
    expect(used.server.connections).toBeLessThanOrEqual(2);
  });

  it.each<[string, Partial<Mail>]>([
    ['a recipient with a line break', { to: 'a@example.org\r\nBcc: b@example.org' }],
    ['two recipients', { to: 'a@example.org, b@example.org' }],
    ['a recipient with a name', { to: 'Nurse <a@example.org>' }],
    ['a subject with a line break', { subject: 'Hello\r\nBcc: b@example.org' }],
    ['a subject with a line feed', { subject: 'Hello\nBcc: b@example.org' }],
    ['a subject with a line separator', { subject: 'Hello\u2028Bcc: b@example.org' }],
    ['a header with a line break', { headers: { 'X-A': 'a\r\nBcc: b@example.org' } }],
    ['a name of a header with a line break', { headers: { 'X-A\r\nBcc': 'b@example.org' } }],
    ['a header that adds a recipient', { headers: { bcc: 'b@example.org' } }],
    ['a header that replaces the sender', { headers: { 'Resent-From': 'b@example.org' } }],
    ['an id with a line break', { messageId: '<a@b>\r\nBcc: b@example.org' }],
    ['an id without a host', { messageId: '<a>' }],
    [
      'a file name with a line break',
      { attachments: [{ filename: 'a\r\nb', content: Buffer.alloc(1), contentType: 'text/csv' }] },
    ],
    ['HTML with an image', { html: '<p><img src="https://example.org/p.gif"></p>' }],
    ['HTML with a script', { html: '<script>1</script>' }],
    ['HTML with a background', { html: '<p style="background: url(https://example.org/p.gif)">x</p>' }],
  ])('is refused for good, before it is sent, with %s', async (_what, part) => {
    await using used = await start();
    const refused = await used.mailer.send({ ...MAIL, ...part });
    expect(refused).toEqual({ accepted: false, isPermanent: true, reason: expect.any(String) });
    expect(await used.mailer.send({ ...MAIL, html: '<p>Hello</p>' })).toMatchObject({ accepted: true });
    expect(used.server.messages).toHaveLength(1);
  });

  it('is refused if no mail server is configured', async () => {
    const settings = { url: undefined, from: undefined, now: () => NOW, limitMs: 1_000 };
    const mailer = createMailer(settings, pino({ level: 'silent' }));
    expect(mailer.isConfigured).toBe(false);
    expect(await mailer.send(MAIL)).toMatchObject({ accepted: false, isPermanent: true });
  });
});

describe('a refusal of the mail server', () => {
  it.each([
    ['recipient', 421, false],
    ['recipient', 450, false],
    ['recipient', 550, true],
    ['recipient', 503, false],
    ['message', 421, false],
    ['message', 452, false],
    ['message', 554, true],
  ] as const)('of the %s with %i is permanent: %s', async (at, code, isPermanent) => {
    await using used = await start();
    used.server.refuse(at, code);
    const refused = await used.mailer.send(MAIL);
    expect(refused).toEqual({ accepted: false, isPermanent, reason: expect.stringContaining(String(code)) });
    expect(await used.mailer.send(MAIL)).toMatchObject({ accepted: true });
    expect(used.server.messages).toHaveLength(1);
  });

  it('of the size of a message is permanent', async () => {
    await using used = await start({ size: 100, rejectOversized: true });
    const refused = await used.mailer.send({ ...MAIL, text: 'x'.repeat(1_000) });
    expect(refused).toMatchObject({ accepted: false, isPermanent: true });
  });

  it('of the user is not permanent, and says which setting is wrong without its value', async () => {
    const users: (string | undefined)[] = [];
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        users.push(username);
        if (password === 'p@ss:w/rd %') return done(null, { user: username });
        return done(new Error(`Bad credentials ${password}`));
      },
    });
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const wrong = server.url.replace('//', '//gantry%40east:gue55ed-it@');
    await using mailer = mailerTo(wrong, {}, log);
    const refused = await mailer.send(MAIL);
    expect(refused).toMatchObject({ accepted: false, isPermanent: false });
    expect(JSON.stringify(refused)).toMatch(/SMTP_URL/);
    await using right = mailerTo(server.url.replace('//', '//gantry%40east:p%40ss%3Aw%2Frd%20%25@'));
    expect(await right.send(MAIL)).toMatchObject({ accepted: true });
    expect(users).toEqual(['gantry@east', 'gantry@east']);
    expect(lines.join('')).toContain('e-mail cannot be sent');
    expect(lines.join('')).not.toContain(':gue55ed-it@');
  });
});

/** A server that greets and then does what the test says with each line. */
const startRawServer = async (answer: (line: string, socket: Socket) => void, greeting = '220 test\r\n') => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(greeting);
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\r\n').slice(0, -1)) answer(line, socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const usually = (line: string, socket: Socket): void => {
  if (/^(EHLO|MAIL|RCPT|RSET)/.test(line)) socket.write('250 OK\r\n');
  if (line === 'DATA') socket.write('354 Go on\r\n');
};

/** Its answer to a message never ends. */
const slowly = (line: string, socket: Socket): void => {
  usually(line, socket);
  if (line !== '.') return;
  socket.write('250');
  setInterval(() => socket.write('-'), 20).unref();
};

describe('a mail server that fails', () => {
  it.each<[string, (line: string, socket: Socket) => void]>([
    ['cuts the connection after the greeting', (_line, socket) => socket.destroy()],
    [
      'cuts the connection in the message',
      (line, socket) => (line === '.' ? socket.destroy() : usually(line, socket)),
    ],
    [
      'answers without sense',
      (line, socket) => (line.startsWith('EHLO') ? socket.write('what?\r\n') : socket.end()),
    ],
  ])('and %s may be tried again', async (_what, answer) => {
    await using server = await startRawServer(answer);
    await using mailer = mailerTo(server.url);
    expect(await mailer.send(MAIL)).toMatchObject({ accepted: false, isPermanent: false });
  });

  it('and is not there may be tried again, is logged once, and is logged when it works again', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    await using first = await startMailServer();
    await first[Symbol.asyncDispose]();
    await using mailer = mailerTo(first.url, {}, log);
    for (let number = 0; number < 3; number++)
      expect(await mailer.send(MAIL)).toMatchObject({ accepted: false, isPermanent: false });
    await using _second = await startMailServer({ name: 'second' }, first.port);
    expect(await mailer.send(MAIL)).toMatchObject({ accepted: true });
    expect(lines).toEqual(['e-mail cannot be sent', 'e-mail is sent again']);
  });

  it.each<[string, (line: string, socket: Socket) => void, string | undefined]>([
    ['never greets', () => undefined, ' '],
    ['never answers the message', usually, undefined],
    ['answers one byte after the other', slowly, undefined],
  ])('and %s costs no more than the limit, and may be tried again', async (_what, answer, greeting) => {
    await using server = await startRawServer(answer, greeting);
    await using mailer = mailerTo(server.url, { limitMs: 300 });
    const sending = mailer.send(MAIL);
    await collectGarbage();
    expect(await sending).toEqual({
      accepted: false,
      isPermanent: false,
      reason: 'The mail server did not take the message in time',
    });
  });

  it('does not keep the service from stopping', async () => {
    await using server = await startRawServer(usually);
    const mailer = mailerTo(server.url, { limitMs: 600_000 });
    const sending = mailer.send(MAIL);
    await mailer[Symbol.asyncDispose]();
    expect(await sending).toMatchObject({ accepted: false, isPermanent: false });
  });

  it('does not keep one from stopping that sends a message about an alarm', async () => {
    let isSending = false;
    await using server = await startRawServer((line, socket) => {
      isSending ||= line === '.';
      slowly(line, socket);
    });
    const gantry = await startGantry({
      config: { SMTP_URL: server.url, SMTP_FROM: 'gantry@example.org' },
      overrides: { timings: { mailMs: 600_000 } },
    });
    const token = await gantry.tokenFor('ADMIN');
    const channel = { name: 'Mail', kind: 'SMTP', to: ['nurse@example.org'] };
    const { id } = await gantry.ok('channels.create', channel, { token });
    await gantry.ok('channels.test', { id }, { token });
    await eventually(
      async () => isSending,
      (is) => is,
    );
    await gantry.stop();
  });
});

describe.skipIf(!hasOpenssl)('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-mail-'));
  const pem = (name: string): Buffer => readFileSync(join(folder, name));
  // An address of this machine that does not count as such.
  const elsewhere = (url: string): string => url.replace('127.0.0.1', '0.0.0.0');
  beforeAll(() => {
    const { makeAuthority, makeCertificate } = certificatesIn(folder);
    makeAuthority('authority');
    makeAuthority('stranger');
    makeCertificate('server', 'authority', ',IP:0.0.0.0');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const withTls = () => ({ key: pem('server.key'), cert: pem('server.pem') });

  it('is required of a server on another machine before anything is said', async () => {
    const login = {
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: () => expect.unreachable(),
    };
    await using used = await start(login);
    for (const user of ['', 'user:password@']) {
      await using mailer = mailerTo(elsewhere(used.server.url).replace('//', `//${user}`));
      const refused = await mailer.send(MAIL);
      expect(refused).toMatchObject({ accepted: false, isPermanent: false });
      expect(refused).toMatchObject({ reason: expect.stringContaining('STARTTLS') });
    }
    expect(used.server.messages).toEqual([]);
  });

  it('begins with STARTTLS, and accepts only certificates of a known authority', async () => {
    const secure: boolean[] = [];
    await using server = await startMailServer({
      ...withTls(),
      onMailFrom(_address, session, done) {
        secure.push(session.secure);
        done();
      },
    });
    const url = elsewhere(server.url);
    await using mailer = mailerTo(url, { ca: pem('authority.pem') });
    expect(await mailer.send(MAIL)).toMatchObject({ accepted: true });
    for (const ca of [pem('stranger.pem'), undefined]) {
      await using refused = mailerTo(url, { ca });
      expect(await refused.send(MAIL)).toMatchObject({ accepted: false, isPermanent: false });
    }
    expect(secure).toEqual([true]);
  });

  it('begins at once with smtps:, also on this machine', async () => {
    await using server = await startMailServer({ ...withTls(), secure: true });
    const url = server.url.replace('smtp:', 'smtps:');
    await using mailer = mailerTo(url, { ca: pem('authority.pem') });
    expect(await mailer.send(MAIL)).toMatchObject({ accepted: true });
    await using refused = mailerTo(url);
    expect(await refused.send(MAIL)).toMatchObject({ accepted: false, isPermanent: false });
  });
});

describe('the settings of mail', () => {
  it.each([
    ['gantry@example.org', { name: '', address: 'gantry@example.org' }],
    ['Gantry East <gantry@example.org>', { name: 'Gantry East', address: 'gantry@example.org' }],
    ['"Gantry, East" <gantry@example.org>', { name: 'Gantry, East', address: 'gantry@example.org' }],
  ])('accept the sender %s', (value, expected) => {
    const config = readConfig({ SMTP_URL: 'smtp://mail.example.org', SMTP_FROM: value });
    expect(config.SMTP_FROM).toEqual(expected);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ SMTP_URL: 'smtp://mail.example.org' }, /SMTP_FROM must be set too, because SMTP_URL is set/],
    [{ SMTP_FROM: 'a@example.org' }, /SMTP_URL must be set too, because SMTP_FROM is set/],
    [{ SMTP_CA_FILE: '/ca.pem' }, /SMTP_URL must be set too, because SMTP_CA_FILE is set/],
    [
      { SMTP_URL: 'https://mail.example.org', SMTP_FROM: 'a@example.org' },
      /SMTP_URL must be an address such as/,
    ],
    [{ SMTP_URL: 'smtp://', SMTP_FROM: 'a@example.org' }, /SMTP_URL must/],
    [{ SMTP_URL: 'smtp://a.org/?pool=true', SMTP_FROM: 'a@example.org' }, /SMTP_URL must end with the host/],
    [{ SMTP_URL: 'smtp://:secret@a.org', SMTP_FROM: 'a@example.org' }, /SMTP_URL must name the user/],
    [{ SMTP_URL: 'smtp://100%:x@a.org', SMTP_FROM: 'a@example.org' }, /SMTP_URL must have %25 for each %/],
    [{ SMTP_URL: 'smtp://a.org', SMTP_FROM: 'gantry' }, /SMTP_FROM must be an address such as/],
    [{ SMTP_URL: 'smtp://a.org', SMTP_FROM: 'a@b.org, c@d.org' }, /SMTP_FROM must be an address such as/],
    [{ SMTP_URL: 'smtp://a.org', SMTP_FROM: 'A\nBcc: x <a@b.org>' }, /SMTP_FROM must be an address such as/],
  ])('refuse %j', (settings, expected) => {
    expect(() => readConfig(settings)).toThrow(expected);
  });
});

describe('the diagnostics of the mail server', () => {
  /** The findings about e-mail with these settings. */
  const findings = async (settings: Record<string, string>) =>
    (await checkMachine(readConfig({ SMTP_FROM: 'gantry@example.org', ...settings })))
      .filter(({ code }) => /mail|publicUrl/i.test(code))
      .map(({ code, finding }) => [code, finding]);

  it('say that it works, and that links need an address', async () => {
    await using server = await startMailServer();
    expect(await findings({ SMTP_URL: server.url })).toEqual([
      ['publicUrlMissing', expect.stringContaining('PUBLIC_URL')],
      ['mailFine', expect.any(String)],
    ]);
    const PUBLIC_URL = 'https://gantry.example.org';
    expect(await findings({ SMTP_URL: server.url, PUBLIC_URL })).toEqual([['mailFine', expect.any(String)]]);
    expect(server.messages).toEqual([]);
  });

  it('say that it refuses the login, without the password', async () => {
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_login, _session, done) => done(new Error('Invalid username or password')),
    });
    const SMTP_URL = server.url.replace('//', '//gantry:hunter2hunter2@');
    const [, [code, finding] = []] = await findings({ SMTP_URL });
    expect([code, finding]).toEqual([
      'mailServer',
      expect.stringContaining('refused the user or the password'),
    ]);
    expect(finding).not.toContain('hunter2');
  });

  it('say that it cannot be reached', async () => {
    const gone = await startMailServer();
    await gone[Symbol.asyncDispose]();
    const [, [code, finding] = []] = await findings({ SMTP_URL: gone.url });
    expect([code, finding]).toEqual(['mailServer', expect.stringContaining('ECONNREFUSED')]);
  });
});
