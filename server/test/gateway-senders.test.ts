import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { devicePayload } from './device-messages.ts';
import { connect, event, messagesOf, pathOf, processed, send, sendJson } from './gateway-calls.ts';
import { challengeOf, digestHeader } from './gateway-digest.ts';
import { sharedGantry, startGantry } from './harness.ts';

const gantry = await sharedGantry();

describe('a sender', () => {
  it('that is unknown is refused, with a challenge if it can answer one', async () => {
    const made = await connect(gantry, 'dahua');
    const unknown = `/gateway/dahua/${'a'.repeat(24)}`;
    expect((await sendJson(gantry, unknown, {})).status).toBe(404);
    expect((await sendJson(gantry, `/gateway/tvt/${made.token}`, {})).status).toBe(404);
    expect((await sendJson(gantry, '/gateway/fax', {})).status).toBe(404);
    const answer = await sendJson(gantry, '/NotificationInfo/KeepAlive', {});
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/Digest .*algorithm=MD5.*algorithm=SHA-256/);
    expect((await send(gantry, pathOf(made.url), '', {}, 'DELETE')).status).toBe(405);
    expect(await messagesOf(gantry, made.id)).toEqual([]);
  });

  it('may use a header, the query, or Basic', async () => {
    const { id, token: key, username, password } = await connect(gantry, 'gantry');
    const basic = (secret: string) => `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`;
    const ways: [string, Record<string, string>][] = [
      ['/gateway/gantry', { 'x-api-key': key }],
      ['/gateway/gantry', { authorization: `Token ${key}` }],
      ['/gateway/gantry', { authorization: `Bearer ${key}` }],
      ['/gateway/gantry', { authorization: basic(password) }],
      [`/gateway/gantry?token=${key}`, {}],
      [`/gateway/gantry/?a=1&key=${key}`, {}],
    ];
    for (const [path, headers] of ways)
      expect((await sendJson(gantry, path, event(), headers)).status).toBe(200);
    expect(await processed(gantry, id, ways.length)).toHaveLength(ways.length);
    for (const headers of [
      { 'x-api-key': 'b'.repeat(24) },
      { authorization: `Token ${'b'.repeat(24)}` },
      { authorization: basic('wrong') },
      { authorization: 'Basic !' },
      {},
    ]) {
      expect((await sendJson(gantry, '/gateway/gantry', event(), headers as never)).status).toBe(401);
    }
  });

  it.each(['MD5', 'SHA-256'] as const)('may use Digest with %s, with each answer once', async (algorithm) => {
    const { id, username, password } = await connect(gantry, 'dahua');
    const uri = '/NotificationInfo/KeepAlive';
    const body = await devicePayload('dahua-itsapi-keepalive.json');
    const ask = (headers: Record<string, string> = {}) => send(gantry, uri, body, headers);
    const asked = await ask();
    const challenge = challengeOf(asked.headers.get('www-authenticate') ?? '', algorithm);
    const answer = (nc: number, secret = password) =>
      digestHeader({ algorithm, challenge, username, password: secret, method: 'POST', uri, nc });
    expect((await ask({ authorization: answer(1) })).status).toBe(200);
    expect((await ask({ authorization: answer(2) })).status).toBe(200);
    // An answer that was used before, whether the last one or an earlier one, comes from an eavesdropper.
    for (const nc of [2, 1]) {
      const replayed = await ask({ authorization: answer(nc) });
      expect(replayed.status).toBe(401);
      expect(replayed.headers.get('www-authenticate')).toContain('stale=true');
    }
    const wrong = await ask({ authorization: answer(3, 'wrong') });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('www-authenticate')).not.toContain('stale');
    const foreign = (secret: string) =>
      digestHeader({
        algorithm,
        challenge: { ...challenge, nonce: '0'.repeat(60) },
        username,
        password: secret,
        method: 'POST',
        uri,
      });
    // Only a sender who knows the password is told that the nonce is the reason.
    for (const [secret, isStale] of [
      [password, true],
      ['wrong', false],
    ] as const) {
      const refused = await ask({ authorization: foreign(secret) });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')?.includes('stale=true')).toBe(isStale);
    }
    expect(await processed(gantry, id, 2)).toHaveLength(2);
  });

  it('may sign its messages', async () => {
    const { id, url, password } = await connect(gantry, 'verkada');
    const body = await devicePayload('verkada-lpr-webhook.json');
    const signed = (secret: string, seconds = Math.floor(Date.now() / 1_000)) => ({
      'content-type': 'application/json',
      'verkada-signature': `${seconds}|${createHmac('sha256', secret).update(body).update(`|${seconds}`).digest('hex')}`,
    });
    expect((await send(gantry, '/gateway/verkada', body, signed(password))).status).toBe(200);
    expect((await send(gantry, pathOf(url), body, signed(password))).status).toBe(200);
    expect((await send(gantry, '/gateway/verkada', body, signed('wrong'))).status).toBe(401);
    expect((await send(gantry, pathOf(url), body, signed('wrong'))).status).toBe(401);
    expect((await send(gantry, '/gateway/verkada', body, signed(password, 1_700_000_000))).status).toBe(401);
    // With the token in the address, a signature is checked but not required.
    const unsigned = { 'content-type': 'application/json' };
    expect((await send(gantry, '/gateway/verkada', body, unsigned)).status).toBe(401);
    expect((await send(gantry, pathOf(url), body, unsigned)).status).toBe(200);
    const messages = await processed(gantry, id, 3);
    expect(messages.map(({ status }) => status).sort()).toEqual(['DUPLICATE', 'DUPLICATE', 'STORED']);
  });

  it('may have its key in the body', async () => {
    const made = await connect(gantry, 'openalpr');
    const heartbeat = JSON.parse(String(await devicePayload('openalpr-heartbeat.json')));
    const body = { ...heartbeat, custom_data: { API_KEY: made.token } };
    expect((await sendJson(gantry, '/gateway/openalpr', body)).status).toBe(200);
    expect((await sendJson(gantry, '/gateway/openalpr', heartbeat)).status).toBe(401);
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE' });
  });

  it('may have its key in a compressed body, up to the same size', async () => {
    const made = await connect(gantry, 'openalpr');
    const heartbeat = JSON.parse(String(await devicePayload('openalpr-heartbeat.json')));
    const compressed = (fill: string) =>
      gzipSync(JSON.stringify({ ...heartbeat, fill, custom_data: { API_KEY: made.token } }));
    const sent = (body: Buffer) => send(gantry, '/gateway/openalpr', body, { 'content-encoding': 'gzip' });
    expect((await sent(compressed(''))).status).toBe(200);
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE' });
    expect(await sent(compressed(' '.repeat(1_100_000)))).toMatchObject({
      status: 413,
      body: expect.stringContaining('larger than 1 MB without its compression'),
    });
    expect((await sent(Buffer.from([0x1f, 0x8b, 8, 0]))).status).toBe(400);
  });
});

describe('the body of a sender that is not identified', () => {
  const LARGE = Buffer.alloc(1_100_000, ' ');
  const now = () => Math.floor(Date.now() / 1_000);
  const signature = (body: Buffer, secret: string, seconds = now()) =>
    `${seconds}|${createHmac('sha256', secret).update(body).update(`|${seconds}`).digest('hex')}`;

  it.each([
    ['verkada', { 'verkada-signature': signature(LARGE, 'wrong') }],
    ['openalpr', {}],
  ] as const)('is small, and that of one that is may be large: %s', async (format, headers) => {
    const made = await connect(gantry, format);
    const refused = await send(gantry, `/gateway/${format}`, LARGE, headers);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatch(/larger than \d+ bytes, the maximum for a sender that only its body/);
    const taken = await send(gantry, pathOf(made.url), LARGE);
    expect([200, 400]).toContain(taken.status);
  });

  it.each([
    ['no signature', undefined],
    ['one without form', 'v1=abc'],
    ['an old one', signature(LARGE, 'wrong', 1_700_000_000)],
  ])('is not read with %s, because it cannot identify the sender', async (_, value) => {
    const headers: Record<string, string> = value === undefined ? {} : { 'verkada-signature': value };
    expect((await send(gantry, '/gateway/verkada', LARGE, headers)).status).toBe(401);
  });

  it('is judged only as often as an address may guess, unless the sender is recognised', async () => {
    await using other = await startGantry();
    const made = await connect(other, 'verkada');
    const body = await devicePayload('verkada-lpr-webhook.json');
    const ask = async (secret: string) => {
      const headers = { 'verkada-signature': signature(body, secret) };
      return (await send(other, '/gateway/verkada', body, headers)).status;
    };
    for (let n = 0; n < 70; n++) expect(await ask(made.password)).toBe(200);
    for (let n = 0; n < 60; n++) expect(await ask('wrong')).toBe(401);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('wrong')));
    expect(new Set(answers)).toEqual(new Set([429]));
  });
});

describe('guesses', () => {
  it('are slowed down after many failures, and known devices behind the same address are not', async () => {
    await using other = await startGantry();
    const made = await connect(other, 'gantry');
    const guess = () =>
      other.fetch(`/gateway/gantry/${'z'.repeat(24)}`, { method: 'POST', body: JSON.stringify(event()) });
    const statuses = new Set<number>();
    for (let n = 0; n < 60; n++) statuses.add((await guess()).status);
    expect([...statuses]).toEqual([404]);
    let isAnswered = false;
    const slow = guess().then(({ status }) => {
      isAnswered = true;
      return status;
    });
    const known = await other.fetch(pathOf(made.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event()),
    });
    expect(known.status).toBe(200);
    expect(isAnswered).toBe(false);
    expect(await slow).toBe(404);
  });
});
