import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { deviceFormats } from '@gantry/contract/values';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listMessages, replayMessages } from '../src/connections/messages-store.ts';
import { recordResults } from '../src/gateways/messages-store.ts';
import { createPassages } from '../src/gateways/passages.ts';
import { createDatabase } from '../src/platform/database/pool.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { devicePayload } from './formats/reading.ts';
import { type Created, connect, eventOf, messagesOf, newSensor, pathOf, processed } from './gateway-calls.ts';
import { challengeOf, digestHeader } from './gateway-digest.ts';
import { eventually, type Gantry, startGantry, untilBegun } from './harness.ts';
import { noteStatements, type Statement } from './noted-statements.ts';
import { jpeg } from './pictures.ts';
import { sendRaw } from './raw-http.ts';
import { openStream, type Stream } from './sse.ts';

let gantry: Gantry;
let token: string;
beforeAll(async () => {
  gantry = await startGantry();
  token = await gantry.tokenFor('ADMIN');
});
afterAll(() => gantry.stop());

const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}, method = 'POST') =>
  gantry.fetch(path, { method, headers, body: body as string });
const sendJson = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
const events = (): Promise<number> => gantry.count('events');

const event = (fields: object = {}) => ({
  eventType: 'PLATE_RECOGNITION',
  licensePlateNumber: 'B AB 1234',
  ...fields,
});
const keyed = (fields: object = {}) =>
  event({ idempotencyKey: randomUUID(), timestamp: '2026-03-01T10:00:00Z', ...fields });

describe('a connection', () => {
  it('has an address and secrets that every device accepts, and instructions with them', async () => {
    const made = await connect(gantry, 'hikvision', { timeZone: 'Europe/Berlin' });
    expect(made.url).toBe(`${gantry.url}/gateway/hikvision/${made.token}`);
    expect(made.url.length).toBeLessThan(128);
    expect(made.password).toHaveLength(16);
    expect(made.username.length).toBeLessThanOrEqual(32);
    expect(made.instructions.join('\n')).toContain(made.token);
  });

  it.each(deviceFormats)('of the format %s has instructions with the values to enter', async (format) => {
    const { url, token: key, username, password, instructions } = await connect(gantry, format);
    expect(url.length).toBeLessThan(128);
    expect(instructions.length).toBeGreaterThanOrEqual(3);
    expect(
      instructions.some((step) => [url, key, username, password].some((value) => step.includes(value))),
    ).toBe(true);
  });

  it('shows its secrets once, and stores hashes of them', async () => {
    const made = await connect(gantry, 'hikvision');
    const shown = JSON.stringify([
      await gantry.ok('connections.getById', { id: made.id }, { token }),
      await gantry.ok('connections.getAll', { sensorId: made.sensorId }, { token }),
    ]);
    expect(shown).toContain(made.username);
    const stored = JSON.stringify((await gantry.pool.query('SELECT * FROM connections')).rows);
    for (const secret of [made.token, made.password]) {
      expect(shown).not.toContain(secret);
      expect(stored).not.toContain(secret);
    }
  });

  it('is refused for a sensor, a time zone or an option that does not exist', async () => {
    const sensorId = await newSensor(gantry);
    const refusal = (input: object) =>
      gantry.refusal('connections.create', { sensorId, format: 'gantry', ...input }, { token });
    expect(await refusal({ sensorId: randomUUID() })).toMatchObject({ status: 404 });
    expect(await refusal({ format: 'fax' })).toMatchObject({ status: 400 });
    expect(await refusal({ timeZone: 'Mars/Olympus' })).toMatchObject({ status: 400 });
    expect(await refusal({ options: { sensors: { 1: randomUUID() } } })).toMatchObject({ status: 400 });
    expect(await refusal({ options: { mapping: '1' } })).toMatchObject({ status: 400 });
    for (const topic of ['v1.1/Datastreams(+)/Observations', 'axis/#/event']) {
      expect(await refusal({ options: { topics: ['axis/+/event/#', topic] } })).toMatchObject({
        status: 400,
      });
    }
  });

  it('is not created for a sensor that is being deleted', async () => {
    const sensorId = await newSensor(gantry);
    const deleting = await gantry.pool.connect();
    try {
      await deleting.query('BEGIN');
      await deleting.query('DELETE FROM sensors WHERE id = $1', [sensorId]);
      const refusal = gantry.refusal('connections.create', { sensorId, format: 'gantry' }, { token });
      await Promise.race([refusal, sleep(500)]);
      await deleting.query('COMMIT');
      expect(await refusal).toMatchObject({ status: 404 });
    } finally {
      deleting.release();
    }
    expect(await gantry.count(`connections WHERE sensor_id = '${sensorId}'`)).toBe(0);
  });

  it('refuses the old secrets after rotation, and everything after it or its sensor is deleted', async () => {
    const made = await connect(gantry, 'gantry');
    const next = await gantry.ok('connections.rotate', { id: made.id }, { token });
    expect(next.username).toBe(made.username);
    expect((await sendJson(pathOf(made.url), event())).status).toBe(404);
    expect((await sendJson(pathOf(next.url), event())).status).toBe(200);
    await gantry.ok('connections.delete', { id: made.id }, { token });
    expect((await sendJson(pathOf(next.url), event())).status).toBe(404);
    expect(await gantry.refusal('connections.getById', { id: made.id }, { token })).toMatchObject({
      status: 404,
    });
    const other = await connect(gantry, 'gantry');
    await gantry.ok('sensors.delete', { id: other.sensorId }, { token });
    await eventually(
      () => sendJson(pathOf(other.url), event()),
      ({ status }) => status === 404,
    );
  });
});

describe('a message of a device', () => {
  it('is stored unchanged and becomes an event', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await sendJson(pathOf(made.url), event({ vehicleSpeed: 48 }));
    expect(answer.status).toBe(200);
    const [message] = await processed(gantry, made.id);
    expect(message).toMatchObject({ status: 'STORED', reason: null, path: '' });
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'B AB 1234',
      vehicleSpeed: 48,
      sensorId: made.sensorId,
      metadata: { connectionId: made.id, messageId: message?.id, clock: 'receipt' },
    });
    const detail = await gantry.ok('connections.getMessage', { id: message?.id }, { token });
    expect(JSON.parse(detail.parts[0].text)).toEqual(event({ vehicleSpeed: 48 }));
  });

  it('is one event, however often and whenever it arrives', async () => {
    const made = await connect(gantry, 'gantry');
    const before = await events();
    for (const body of [keyed(), keyed({ timestamp: '2126-01-01T00:00:00Z' })]) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => sendJson(pathOf(made.url), body)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    const messages = await processed(gantry, made.id, 10);
    expect(messages.filter(({ status }) => status === 'STORED')).toHaveLength(2);
    expect(messages.filter(({ status }) => status === 'DUPLICATE')).toHaveLength(8);
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(2);
    expect((await events()) - before).toBe(2);
  });

  it('of a Hikvision camera, with its exact bytes, is an event with its images', async () => {
    const made = await connect(gantry, 'hikvision');
    const xml = await devicePayload('hikvision-anpr-deepinview-v58.xml');
    const picture = jpeg();
    const part = (name: string, type: string, bytes: Buffer) => [
      `--boundary\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
      bytes,
      '\r\n',
    ];
    const body = Buffer.concat(
      [
        ...part('anpr.xml', 'text/xml; charset="UTF-8"', xml),
        ...part('licensePlatePicture.jpg', 'image/pjpeg', Buffer.alloc(0)),
        ...part('detectionPicture.jpg', 'image/jpeg', picture),
        '--boundary--\r\n',
      ].map((each) => Buffer.from(each)),
    );
    const [answer] = await sendRaw(
      gantry.url,
      Buffer.concat([
        Buffer.from(
          `POST ${pathOf(made.url)} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=boundary\r\nHost: 10.10.10.246\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
        ),
        body,
      ]),
    ).then((answers) => answers.filter(({ status }) => status >= 200));
    expect(answer?.status).toBe(200);
    const [message] = await processed(gantry, made.id);
    expect(message).toMatchObject({ status: 'STORED' });
    expect(message?.pictures).toHaveLength(1);
    const stored = await eventOf(gantry, message?.eventIds[0]);
    expect(stored).toMatchObject({ eventType: 'PLATE_RECOGNITION', images: message?.pictures });
    const image = await fetch(`${gantry.url}${stored.images[0]}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(Buffer.from(await image.arrayBuffer())).toEqual(picture);
    expect(await gantry.count('event_images')).toBeGreaterThan(0);
  });

  it('of a Hikvision camera with two vehicles under one UUID is two events, however often it arrives', async () => {
    const made = await connect(gantry, 'hikvision');
    const block = (plate: string) => `<ANPR><licensePlate>${plate}</licensePlate></ANPR>`;
    const body = `<EventNotificationAlert><eventType>ANPR</eventType><dateTime>${new Date().toISOString()}</dateTime>
<UUID>5b1a8f6e-0001</UUID>${block('AA111AA')}${block('BB222BB')}</EventNotificationAlert>`;
    for (let sent = 1; sent <= 2; sent++) {
      await gantry.fetch(pathOf(made.url), { method: 'POST', body });
      await processed(gantry, made.id, sent);
    }
    const [again, first] = await processed(gantry, made.id, 2);
    expect([first?.status, again?.status]).toEqual(['STORED', 'DUPLICATE']);
    expect(again?.eventIds).toEqual(first?.eventIds);
    const stored = await Promise.all((first?.eventIds ?? []).map((id) => eventOf(gantry, id)));
    expect(stored.map(({ licensePlateNumber }) => licensePlateNumber)).toEqual(['AA111AA', 'BB222BB']);
  });

  it('may be sent without Host, over HTTP/1.0, and to an address in absolute form', async () => {
    const made = await connect(gantry, 'gantry');
    const body = JSON.stringify(event());
    const raw = (line: string, ...headers: string[]) =>
      sendRaw(
        gantry.url,
        `${line}\r\n${[...headers, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`,
      );
    const path = pathOf(made.url);
    for (const [answer] of [
      await raw(`POST ${path} HTTP/1.0`),
      await raw(`POST ${path} HTTP/1.1`, 'Connection: close'),
      await raw(`POST http://192.168.0.5${path} HTTP/1.1`, 'Host: 192.168.0.5', 'Connection: close'),
      await raw(`PUT ${path}/a/b HTTP/1.1`, 'Host: a', 'Connection: close'),
    ]) {
      expect(answer?.status).toBe(200);
    }
    const messages = await processed(gantry, made.id, 4);
    expect(messages.map(({ status }) => status)).toEqual(['STORED', 'STORED', 'STORED', 'STORED']);
    expect(messages.map(({ path: below }) => below)).toContain('/a/b');
  });

  it('with a heartbeat is a sign of life and not an event', async () => {
    const made = await connect(gantry, 'dahua');
    const before = await events();
    const body = await devicePayload('dahua-itsapi-keepalive.json');
    const answer = await send(`${pathOf(made.url)}/NotificationInfo/KeepAlive`, body, {
      'content-type': 'application/json',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ Result: true });
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE', eventIds: [] });
    const sensor = await gantry.ok('sensors.getById', { id: made.sensorId });
    expect(sensor).toMatchObject({ status: 'ONLINE' });
    expect(sensor.lastHeartbeat).not.toBeNull();
    expect(await events()).toBe(before);
  });

  it('with a heartbeat that is processed again later is no sign of life', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(`${pathOf(made.url)}/heartbeat`, {});
    await processed(gantry, made.id);
    await gantry.pool.query(
      `UPDATE device_messages SET received_at = received_at - interval '1 day' WHERE connection_id = $1`,
      [made.id],
    );
    await gantry.pool.query(
      `UPDATE sensors SET status = 'OFFLINE', last_heartbeat = now() - interval '1 day' WHERE id = $1`,
      [made.sensorId],
    );
    const before = await gantry.ok('sensors.getById', { id: made.sensorId });
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE' });
    expect(await gantry.ok('sensors.getById', { id: made.sensorId })).toMatchObject({
      status: 'OFFLINE',
      lastHeartbeat: before.lastHeartbeat,
    });
  });

  it('that is processed again later is no contact at that time', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(pathOf(made.url), event());
    await processed(gantry, made.id);
    const lastContact = async () =>
      (await gantry.ok('sensors.getById', { id: made.sensorId })).lastCommunication;
    const before = await eventually(lastContact, (at) => at !== null);
    const age = async (table: string, columns: string, where: string, id: string) =>
      gantry.pool.query(
        `UPDATE ${table} SET ${columns} = ${columns} - interval '1 day' WHERE ${where} = $1`,
        [id],
      );
    await age('device_messages', 'received_at', 'connection_id', made.id);
    await age('sensors', 'last_communication', 'id', made.sensorId);
    expect(await lastContact()).not.toEqual(before);
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    await processed(gantry, made.id);
    // A contact after those of the replay, of another sensor, shows that theirs are written.
    const other = await connect(gantry, 'gantry');
    await sendJson(pathOf(other.url), event());
    await eventually(
      async () => (await gantry.ok('sensors.getById', { id: other.sensorId })).lastCommunication,
      (at) => at !== null,
    );
    expect(Date.now() - Date.parse(await lastContact())).toBeGreaterThan(80_000_000);
  });

  it('that cannot be read is answered 200 and recorded with its reason', async () => {
    const made = await connect(gantry, 'hikvision');
    const path = pathOf(made.url);
    const before = await events();
    const bodies: [string, string | Buffer][] = [
      ['application/xml', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
      ['application/xml', `${'<a>'.repeat(10_000)}`],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nwithout end',
      ],
      ['multipart/form-data; boundary=', 'a'],
      [
        'multipart/form-data; boundary=b',
        `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(10_000)}--b--`,
      ],
      ['text/xml', '{"plate": "no XML"}'],
      ['image/jpeg', jpeg().subarray(0, 40)],
      ['application/json', ''],
      ['application/octet-stream', Buffer.from([0, 1, 2, 3])],
    ];
    for (const [type, body] of bodies) {
      expect((await send(path, body, { 'content-type': type })).status).toBe(200);
    }
    const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect((await send(path, Buffer.from([0x1f, 0x8b, 8, 0]), gzip)).status).toBe(200);
    const messages = await processed(gantry, made.id, bodies.length + 1);
    for (const { status, reason } of messages) {
      expect(['REFUSED', 'IGNORED']).toContain(status);
      expect(reason).not.toBeNull();
    }
    expect(messages[0]).toMatchObject({ status: 'REFUSED', reason: expect.stringContaining('compressed') });
    expect(await events()).toBe(before);
  });

  it('over 10 MB is refused with 413', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await send(pathOf(made.url), ' '.repeat(10 * 1024 * 1024 + 1));
    expect(answer.status).toBe(413);
  });

  it('is counted in the metrics', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(pathOf(made.url), event());
    await processed(gantry, made.id);
    const { body } = await gantry.fetch('/metrics');
    expect(body).toMatch(/gantry_device_messages_total\{format="gantry",outcome="STORED"\} \d+/);
    expect(body).toMatch(/gantry_gateway_answers_total\{format="gantry",status="200"\} \d+/);
  });
});

describe('a sender', () => {
  it('that is unknown is refused, with a challenge if it can answer one', async () => {
    const made = await connect(gantry, 'dahua');
    const unknown = `/gateway/dahua/${'a'.repeat(24)}`;
    expect((await sendJson(unknown, {})).status).toBe(404);
    expect((await sendJson(`/gateway/tvt/${made.token}`, {})).status).toBe(404);
    expect((await sendJson('/gateway/fax', {})).status).toBe(404);
    const answer = await sendJson('/NotificationInfo/KeepAlive', {});
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/Digest .*algorithm=MD5.*algorithm=SHA-256/);
    expect((await send(pathOf(made.url), '', {}, 'DELETE')).status).toBe(405);
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
    for (const [path, headers] of ways) expect((await sendJson(path, event(), headers)).status).toBe(200);
    expect(await processed(gantry, id, ways.length)).toHaveLength(ways.length);
    for (const headers of [
      { 'x-api-key': 'b'.repeat(24) },
      { authorization: `Token ${'b'.repeat(24)}` },
      { authorization: basic('wrong') },
      { authorization: 'Basic !' },
      {},
    ]) {
      expect((await sendJson('/gateway/gantry', event(), headers as never)).status).toBe(401);
    }
  });

  it.each(['MD5', 'SHA-256'] as const)('may use Digest with %s, with each answer once', async (algorithm) => {
    const { id, username, password } = await connect(gantry, 'dahua');
    const uri = '/NotificationInfo/KeepAlive';
    const body = await devicePayload('dahua-itsapi-keepalive.json');
    const ask = (headers: Record<string, string> = {}) => send(uri, body, headers);
    const asked = await ask();
    const challenge = challengeOf(asked.headers.get('www-authenticate') ?? '', algorithm);
    const answer = (nc: number, secret = password) =>
      digestHeader({ algorithm, challenge, username, password: secret, method: 'POST', uri, nc });
    expect((await ask({ authorization: answer(1) })).status).toBe(200);
    expect((await ask({ authorization: answer(2) })).status).toBe(200);
    // The same answer again, and one of before, is somebody who listened.
    for (const nc of [2, 1]) {
      const replayed = await ask({ authorization: answer(nc) });
      expect(replayed.status).toBe(401);
      expect(replayed.headers.get('www-authenticate')).toContain('stale=true');
    }
    const wrong = await ask({ authorization: answer(3, 'wrong') });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('www-authenticate')).not.toContain('stale');
    const foreign = digestHeader({
      algorithm,
      challenge: { ...challenge, nonce: '0'.repeat(60) },
      username,
      password,
      method: 'POST',
      uri,
    });
    expect((await ask({ authorization: foreign })).status).toBe(401);
    expect(await processed(gantry, id, 2)).toHaveLength(2);
  });

  it('may sign its messages', async () => {
    const { id, url, password } = await connect(gantry, 'verkada');
    const body = await devicePayload('verkada-lpr-webhook.json');
    const signed = (secret: string, seconds = Math.floor(Date.now() / 1_000)) => ({
      'content-type': 'application/json',
      'verkada-signature': `${seconds}|${createHmac('sha256', secret).update(body).update(`|${seconds}`).digest('hex')}`,
    });
    expect((await send('/gateway/verkada', body, signed(password))).status).toBe(200);
    expect((await send(pathOf(url), body, signed(password))).status).toBe(200);
    expect((await send('/gateway/verkada', body, signed('wrong'))).status).toBe(401);
    expect((await send(pathOf(url), body, signed('wrong'))).status).toBe(401);
    expect((await send('/gateway/verkada', body, signed(password, 1_700_000_000))).status).toBe(401);
    const messages = await processed(gantry, id, 2);
    expect(messages.map(({ status }) => status).sort()).toEqual(['DUPLICATE', 'STORED']);
  });

  it('may have its key in the body', async () => {
    const made = await connect(gantry, 'openalpr');
    const heartbeat = JSON.parse(String(await devicePayload('openalpr-heartbeat.json')));
    const body = { ...heartbeat, custom_data: { API_KEY: made.token } };
    expect((await sendJson('/gateway/openalpr', body)).status).toBe(200);
    expect((await sendJson('/gateway/openalpr', heartbeat)).status).toBe(401);
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE' });
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

describe('several reports about one vehicle', () => {
  const car = (state: string, plate: string, carID: string, plateConfidence = '0.9') => ({
    packetCounter: '1',
    capture_timestamp: String(Date.now()),
    plateText: plate,
    plateUTF8: plate,
    plateConfidence,
    carState: state,
    carID,
    camera_info: { SerialNumber: 'ACCC8E123456' },
  });

  it('become one event with the best plate when the last report has arrived', async () => {
    const made = await connect(gantry, 'axis-lpv');
    const before = await events();
    const carID = randomUUID();
    for (const [state, plate] of [
      ['new', 'MWR6677'],
      ['update', 'HWR6677'],
    ] as const) {
      await sendJson(pathOf(made.url), car(state, plate, carID));
    }
    expect((await processed(gantry, made.id, 2)).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
    expect(await events()).toBe(before);
    await sendJson(pathOf(made.url), car('lost', 'HWR6677', carID));
    const messages = await eventually(
      () => processed(gantry, made.id, 3),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const ids = new Set(messages.flatMap(({ eventIds }) => eventIds));
    expect(ids.size).toBe(1);
    expect(await eventOf(gantry, [...ids][0])).toMatchObject({ licensePlateNumber: 'HWR6677' });
    // A late one, and all of them again, create nothing.
    await sendJson(pathOf(made.url), car('lost', 'HWR6677', carID));
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    const again = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'DUPLICATE'),
    );
    expect(new Set(again.flatMap(({ eventIds }) => eventIds))).toEqual(ids);
    expect(await events()).toBe(before + 1);
  });

  it('become one event with the plate that was read with enough confidence', async () => {
    const made = await connect(gantry, 'axis-lpv', { options: { minConfidence: 0.8 } });
    const [clear, unclear] = [randomUUID(), randomUUID()];
    await sendJson(pathOf(made.url), car('update', 'HWR6677', clear, '0.9'));
    await sendJson(pathOf(made.url), car('lost', 'HWR66', clear, '0.5'));
    await sendJson(pathOf(made.url), car('update', 'MWR6677', unclear, '0.6'));
    await sendJson(pathOf(made.url), car('lost', 'MWR6677', unclear, '0.7'));
    const messages = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const leftOut = 'The plate was left out: its confidence of 0.7 is less than 0.8';
    expect(messages.map(({ reason }) => reason)).toEqual([leftOut, leftOut, null, null]);
    const plates = await Promise.all(
      [messages[0], messages[3]].map(
        async (each) => (await eventOf(gantry, each?.eventIds[0])).licensePlateNumber,
      ),
    );
    expect(plates).toEqual([null, 'HWR6677']);
  });

  it('become one event when the group of a Dahua camera crosses a full hour', async () => {
    const made = await connect(gantry, 'dahua');
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600;
    for (const [index, plate] of ['', 'B2'].entries()) {
      const group = { GroupID: 77, CountInGroup: 2, IndexInGroup: index + 1, RealUTC: hour - 1 + index };
      const data = { ...group, TrafficCar: { PlateNumber: plate } };
      await sendJson(pathOf(made.url), { Events: [{ Code: 'TrafficJunction', Data: data }] });
      await processed(gantry, made.id, index + 1);
    }
    const messages = await eventually(
      () => processed(gantry, made.id, 2),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    const ids = new Set(messages.flatMap(({ eventIds }) => eventIds));
    expect(ids.size).toBe(1);
    const { licensePlateNumber, timestamp } = await eventOf(gantry, [...ids][0]);
    expect([licensePlateNumber, Date.parse(timestamp) / 1_000]).toEqual(['B2', hour - 1]);
  });

  it('become one event when a later report joins reports that are held under other ids', async () => {
    const made = await connect(gantry, 'openalpr');
    const before = await events();
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, results: results.results.slice(0, 1) };
    await sendJson(pathOf(made.url), { ...frame, uuid: 'frame-1' });
    await sendJson(pathOf(made.url), { ...frame, uuid: 'frame-2' });
    await processed(gantry, made.id, 2);
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
    };
    await sendJson(pathOf(made.url), whole);
    await sendJson(pathOf(made.url), whole);
    await sendJson(pathOf(made.url), { ...frame, uuid: 'frame-1' });
    const messages = await eventually(
      () => processed(gantry, made.id, 5),
      (all) => all.every(({ status }) => ['STORED', 'DUPLICATE'].includes(status)),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
    expect(await events()).toBe(before + 1);
  });

  it('become one event when one joins what is being stored under another id', async () => {
    const made = await connect(gantry, 'openalpr');
    const before = await events();
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, results: [{ ...results.results[0], plate_index: 0 }] };
    await sendJson(pathOf(made.url), { ...frame, uuid: 'frame-1' });
    await processed(gantry, made.id);
    // As if a process had closed it and were about to store its event.
    await gantry.pool.query(
      `UPDATE device_passages SET closed_at = now(), due_at = now() + interval '1 hour' WHERE connection_id = $1`,
      [made.id],
    );
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
      plate_indexes: [0, 0],
    };
    await sendJson(pathOf(made.url), whole);
    expect((await processed(gantry, made.id, 2)).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
    await gantry.pool.query(
      `UPDATE device_passages SET due_at = now() WHERE connection_id = $1 AND due_at IS NOT NULL`,
      [made.id],
    );
    const messages = await eventually(
      () => processed(gantry, made.id, 2),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
    await sendJson(pathOf(made.url), whole);
    expect((await processed(gantry, made.id, 3))[0]).toMatchObject({ status: 'DUPLICATE' });
    expect(await events()).toBe(before + 1);
  });

  it('become one event when a report arrives again under an id that is part of a passage by now', async () => {
    const made = await connect(gantry, 'openalpr');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const group = JSON.parse(String(await devicePayload('openalpr-alpr_group-v2.json')));
    const frame = { ...results, agent_uid: 'a', results: [{ ...results.results[0], plate_index: 0 }] };
    const whole = {
      ...group,
      camera_id: results.camera_id,
      best_uuid: 'frame-2',
      uuids: ['frame-1', 'frame-2'],
      plate_indexes: [0, 0],
    };
    const sent = [
      { ...frame, uuid: 'frame-1' },
      { ...whole, is_preview: true },
      { ...frame, uuid: 'frame-1', epoch_time: results.epoch_time + 1 },
      whole,
    ];
    for (const [index, message] of sent.entries()) {
      await sendJson(pathOf(made.url), message);
      await processed(gantry, made.id, index + 1);
    }
    const messages = await eventually(
      () => processed(gantry, made.id, 4),
      (all) => all.every(({ status }) => status === 'STORED'),
    );
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(1);
  });

  it('are all the events of a message with several vehicles, and what was left out of it remains known', async () => {
    const made = await connect(gantry, 'openalpr');
    const results = JSON.parse(String(await devicePayload('openalpr-alpr_results-v2.json')));
    const [first, second] = results.results;
    const truncated = jpeg({ comment: 'a'.repeat(300) })
      .subarray(0, 200)
      .toString('base64');
    const frame = { ...results, agent_uid: 'a', results: [{ ...first, plate_crop_jpeg: truncated }, second] };
    await sendJson(pathOf(made.url), frame);
    const reason = 'A picture in the message is truncated and was left out';
    expect(await processed(gantry, made.id)).toMatchObject([{ status: 'HELD', reason }]);
    await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED' && only.eventIds.length === 2,
    );
    expect(message?.reason).toBe(reason);
    const plates = await Promise.all(
      (message?.eventIds ?? []).map(async (id) => (await eventOf(gantry, id)).licensePlateNumber),
    );
    expect(plates.sort()).toEqual(['CG3L5Y', 'D2651BF']);
  });

  it('have their event, whether it is stored before or while the result of a message is recorded', async () => {
    const made = await connect(gantry, 'axis-lpv');
    const { context } = gantry.app;
    await sendJson(pathOf(made.url), car('new', 'ABC123', randomUUID()));
    const [{ id = '' } = {}] = await processed(gantry, made.id);
    const held = { id, claim: 0, status: 'HELD', reason: null, eventIds: [], retryMs: null } as const;
    // As if the process that received the message had not recorded its result yet.
    const processAgain = () =>
      gantry.pool.query(
        `UPDATE device_messages SET status = 'RECEIVED', event_ids = '{}', due_at = now() + interval '1 hour'
         WHERE id = $1`,
        [id],
      );
    await processAgain();
    const passage = async () =>
      (
        await gantry.pool.query(
          `SELECT sensor_id AS "sensorId", passage, event_id AS "eventId",
             EXISTS (SELECT FROM pg_locks WHERE NOT granted) AS "isWaiting"
           FROM device_passages WHERE connection_id = $1`,
          [made.id],
        )
      ).rows[0];
    await inTransaction(context.gateways, async (tx) => {
      await recordResults(tx, [held]);
      await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
      await eventually(passage, ({ eventId, isWaiting }) => eventId !== null || isWaiting);
    });
    const [stored] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    await processAgain();
    const key = { connectionId: made.id, ...(await passage()) };
    await createPassages(context, context.gateways).record([{ ...held, passages: [key] }]);
    expect(await processed(gantry, made.id)).toEqual([stored]);
    expect(stored?.eventIds).toHaveLength(1);
  });

  it('become one event when no further report arrives', async () => {
    const made = await connect(gantry, 'axis-lpv');
    await sendJson(pathOf(made.url), car('new', 'ABC123', randomUUID()));
    await processed(gantry, made.id);
    await gantry.pool.query('UPDATE device_passages SET due_at = now() WHERE closed_at IS NULL');
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({ licensePlateNumber: 'ABC123' });
  });
});

describe('a recorder', () => {
  /** A camera of the recorder reports a vehicle. */
  const seen = async (recorder: Created, channel: string, plate: string): Promise<void> => {
    const xml = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString();
    const body = xml
      .replace('<channelID>1<', `<channelID>${channel}<`)
      .replace('WX1234A', plate)
      .replace(/<UUID>[^<]*</, `<UUID>${randomUUID()}<`);
    await send(pathOf(recorder.url), body, { 'content-type': 'application/xml' });
  };
  const discoveries = async (connectionId: string): Promise<{ id: string; device: string }[]> =>
    (await gantry.ok('connections.getDiscoveries', { connectionId }, { token })).discoveries;
  const discovered = async (connectionId: string, device: string): Promise<{ id: string }> => {
    const found = (await discoveries(connectionId)).find((each) => each.device === device);
    if (!found) throw new Error(`${device} was not discovered`);
    return found;
  };
  const eventsOf = async (sensorId: string): Promise<number> =>
    (await gantry.ok('events.getAll', { sensorId }, { token })).total;

  it('has devices that are discovered and registered, including their earlier messages', async () => {
    const made = await connect(gantry, 'gantry', { options: { sensors: {} } });
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const xml = await devicePayload('hikvision-anpr-deepinview-v58.xml');
    const headers = { 'content-type': 'application/xml' };
    await send(pathOf(recorder.url), xml, headers);
    expect((await processed(gantry, recorder.id))[0]).toMatchObject({
      status: 'UNKNOWN_DEVICE',
      eventIds: [],
    });
    const { discoveries } = await gantry.ok(
      'connections.getDiscoveries',
      { connectionId: recorder.id },
      { token },
    );
    expect(discoveries).toMatchObject([{ connectionId: recorder.id, messages: 1 }]);
    const registered = await gantry.ok(
      'connections.register',
      { id: discoveries[0].id, name: 'Lane 1' },
      { token },
    );
    expect(registered).toMatchObject({ success: true, replayed: 1 });
    const [message] = await eventually(
      () => processed(gantry, recorder.id),
      ([only]) => only?.status === 'STORED',
    );
    expect(await eventOf(gantry, message?.eventIds[0])).toMatchObject({
      sensorId: registered.sensorId,
      sensorName: 'Lane 1',
    });
    expect(
      (await gantry.ok('connections.getDiscoveries', { connectionId: recorder.id }, { token })).total,
    ).toBe(0);
    // A message that names no device belongs to the sensor of the connection.
    await sendJson(pathOf(made.url), event());
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'STORED' });
  });

  it('names the sensor of a discovered device after the recorder, since channels are only numbers', async () => {
    const name = 'Recorder of the bus station';
    const sensorId = await newSensor(gantry, { name });
    const recorder = await connect(gantry, 'hikvision', { sensorId, options: { sensors: {} } });
    const xml = (await devicePayload('hikvision-anpr-deepinview-v58.xml')).toString();
    const long = 'c'.repeat(60);
    for (const channel of ['1', long]) {
      const body = xml
        .replace('<channelID>1<', `<channelID>${channel}<`)
        .replace('WX1234A', `W${channel.length}`);
      await send(pathOf(recorder.url), body, { 'content-type': 'application/xml' });
    }
    await processed(gantry, recorder.id, 2);
    const { discoveries } = await gantry.ok(
      'connections.getDiscoveries',
      { connectionId: recorder.id },
      { token },
    );
    expect(new Set(discoveries.map(({ device }: { device: string }) => device))).toEqual(
      new Set(['1', long]),
    );
    for (const { id, device } of discoveries) {
      expect(await gantry.refusal('connections.register', { id, name: 'ab' }, { token })).toMatchObject({
        status: 400,
      });
      const made = await gantry.ok('connections.register', { id }, { token });
      const sensor = await gantry.ok('sensors.getById', { id: made.sensorId }, { token });
      expect(sensor.name).toBe(`${name} ${device}`.slice(0, 50));
    }
  });

  it('has all earlier messages of a registered device read again, however many others have sent', async () => {
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    for (const plate of ['W1', 'W2', 'W3']) await seen(recorder, '1', plate);
    await seen(recorder, 'İkitelli 2', 'W4');
    const [newest] = await processed(gantry, recorder.id, 4);
    const copied = 10_001;
    await gantry.pool.query(
      `INSERT INTO device_messages (id, connection_id, received_at, status, reason, method, path, content_type, bytes, parts)
       SELECT ('ffffffff-ffff-7fff-8fff-' || lpad(to_hex(n), 12, '0'))::uuid,
         connection_id, received_at, status, reason, method, path, content_type, bytes, parts
       FROM device_messages, generate_series(1, $2::integer) AS n WHERE id = $1`,
      [newest?.id, copied],
    );
    const first = await gantry.ok(
      'connections.register',
      { id: (await discovered(recorder.id, '1')).id },
      { token },
    );
    expect(first).toMatchObject({ replayed: 3 });
    await eventually(
      () => eventsOf(first.sensorId),
      (n) => n === 3,
    );
    const second = await gantry.ok(
      'connections.register',
      { id: (await discovered(recorder.id, 'İkitelli 2')).id },
      { token },
    );
    await gantry.pool.query(`DELETE FROM device_messages WHERE id > 'ffffffff-ffff-7fff-8fff-000000000000'`);
    expect(second).toMatchObject({ replayed: copied + 1 });
    expect(await discoveries(recorder.id)).toEqual([]);
  });

  it('has a device registered once, when two users do it at once', async () => {
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    await seen(recorder, '1', 'W1');
    await processed(gantry, recorder.id);
    const { id } = await discovered(recorder.id, '1');
    const before = await gantry.count('sensors');
    const answers = await Promise.all(
      [1, 2].map(() => gantry.call('connections.register', { id }, { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await gantry.count('sensors')).toBe(before + 1);
  });

  it('has a device discovered again after its sensor was deleted, and can be changed', async () => {
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    await seen(recorder, '1', 'W1');
    await processed(gantry, recorder.id);
    const { sensorId } = await gantry.ok(
      'connections.register',
      { id: (await discovered(recorder.id, '1')).id },
      { token },
    );
    await eventually(
      () => processed(gantry, recorder.id),
      ([only]) => only?.status === 'STORED',
    );
    await gantry.ok('sensors.delete', { id: sensorId }, { token });
    expect(await gantry.ok('connections.getById', { id: recorder.id }, { token })).toMatchObject({
      options: { sensors: {} },
    });
    await eventually(
      () => gantry.app.context.connections.byId(recorder.id),
      (known) => Object.keys(known?.options.sensors ?? {}).length === 0,
    );
    await seen(recorder, '1', 'W2');
    expect((await processed(gantry, recorder.id, 2))[0]).toMatchObject({ status: 'UNKNOWN_DEVICE' });
    expect(await discoveries(recorder.id)).toMatchObject([{ device: '1', messages: 1 }]);
  });

  it('that still names a deleted sensor can be changed, and has its device discovered', async () => {
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const options = { sensors: { 1: randomUUID() } };
    await gantry.pool.query('UPDATE connections SET options = $2 WHERE id = $1', [recorder.id, options]);
    const update = (changed: object) => ({ id: recorder.id, options: changed });
    await gantry.ok('connections.update', update({ ...options, speedUnit: 'mph' }), { token });
    const other = update({ sensors: { ...options.sensors, 2: randomUUID() } });
    expect(await gantry.refusal('connections.update', other, { token })).toMatchObject({ status: 400 });
    await seen(recorder, '1', 'W1');
    expect((await processed(gantry, recorder.id))[0]).toMatchObject({ status: 'UNKNOWN_DEVICE' });
    expect(await discoveries(recorder.id)).toMatchObject([{ device: '1' }]);
  });

  it('keeps a registration that somebody makes while another changes the options', async () => {
    const recorder = await connect(gantry, 'hikvision', { options: { sensors: {} } });
    const { updatedAt, options } = await gantry.ok('connections.getById', { id: recorder.id }, { token });
    await seen(recorder, '1', 'W1');
    await processed(gantry, recorder.id);
    const { id } = await discovered(recorder.id, '1');
    const { sensorId } = await gantry.ok('connections.register', { id }, { token });
    const change = { id: recorder.id, options: { ...options, speedUnit: 'mph' } };
    expect(
      await gantry.refusal('connections.update', { ...change, expectedUpdatedAt: updatedAt }, { token }),
    ).toMatchObject({ status: 409 });
    const now = await gantry.ok('connections.getById', { id: recorder.id }, { token });
    expect(now.options).toEqual({ sensors: { 1: sensorId } });
    await gantry.ok(
      'connections.update',
      { ...change, options: { ...now.options, speedUnit: 'mph' }, expectedUpdatedAt: now.updatedAt },
      { token },
    );
  });
});

describe('a mapping', () => {
  it('is tried on the last message, compiled before it is saved, and applied by replay', async () => {
    const made = await connect(gantry, 'mapped');
    await sendJson(pathOf(made.url), { car: { no: 'XY 99', kmh: 61 } });
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'REFUSED' });
    const options = { mapping: '{"plate": body.car.no, "speed": body.car.kmh}' };
    expect(await gantry.ok('connections.tryReading', { id: made.id, options }, { token })).toMatchObject({
      status: 'STORED',
      events: [{ licensePlateNumber: 'XY 99', vehicleSpeed: 61 }],
    });
    const refusal = (mapping: string) =>
      gantry.refusal('connections.update', { id: made.id, options: { mapping } }, { token });
    expect(await refusal('{"plate": ')).toMatchObject({ status: 400 });
    expect(await refusal('($f := function(){ $f() }; $f())')).toMatchObject({ status: 400 });
    await gantry.ok('connections.update', { id: made.id, options }, { token });
    const replay = (before?: string) =>
      gantry.ok('connections.replay', { connectionId: made.id, before }, { token });
    const replayed = await replay();
    expect(replayed).toEqual({ success: true, count: 1, oldestMessageId: expect.any(String) });
    expect(await replay(replayed.oldestMessageId)).toEqual({
      success: true,
      count: 0,
      oldestMessageId: null,
    });
    expect(
      await gantry.refusal('connections.replay', { connectionId: made.id, before: 'x' }, { token }),
    ).toMatchObject({ status: 404 });
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    await gantry.ok('connections.replay', { messageId: message?.id }, { token });
    await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'DUPLICATE',
    );
  }, 60_000);
});

describe('a mapping that was stopped several times', () => {
  it('is evaluated later for the messages that arrive meanwhile', async () => {
    const mapping = 'body.slow ? ($f := function(){ $f() }; $f()) : {"plate": body.plate}';
    const made = await connect(gantry, 'mapped', { options: { mapping } });
    for (const slow of [1, 2, 3]) await sendJson(pathOf(made.url), { slow });
    await processed(gantry, made.id, 3);
    await sendJson(pathOf(made.url), { plate: 'B AB 1234' });
    const statuses = async () => (await messagesOf(gantry, made.id)).map(({ status }) => status);
    const refused = ['REFUSED', 'REFUSED', 'REFUSED'];
    await eventually(statuses, ([newest]) => newest !== 'RECEIVED');
    expect(await statuses()).toEqual(['FAILED', ...refused]);
    // Another expression is not paused.
    const options = { mapping: '{"plate": body.plate}' };
    await gantry.ok('connections.update', { id: made.id, options }, { token });
    await eventually(statuses, ([newest]) => newest === 'STORED');
  });
});

describe('the stream of messages', () => {
  it('contains each message with its result, and resumes without a gap', async () => {
    const made = await connect(gantry, 'gantry');
    const input = { connectionId: made.id };
    const follow = (lastEventId?: string) =>
      openStream(gantry.url, 'connections.onMessage', {
        token,
        input,
        ...(lastEventId !== undefined && { lastEventId }),
      });
    const first = await follow();
    await untilBegun(first);
    const shown = (stream: Stream) => stream.messages.filter(({ data }) => data.type === 'message');
    await sendJson(pathOf(made.url), event());
    const seen = await eventually(
      async () => shown(first),
      (messages) => messages.some(({ data }) => data.message.status === 'STORED'),
    );
    first.close();
    await sendJson(pathOf(made.url), event());
    await sendJson(pathOf(made.url), event());
    await processed(gantry, made.id, 3);
    const second = await follow(seen.at(-1)?.id);
    const missed = await eventually(
      async () => shown(second),
      (messages) => messages.length >= 2,
    );
    expect(missed.map(({ data }) => data.message.status)).toEqual(['STORED', 'STORED']);
    expect(missed.map(({ data }) => data.message.id)).not.toContain(seen[0]?.data.message.id);
    second.close();
    const viewer = await gantry.tokenFor('VIEWER');
    expect((await gantry.refusal('connections.getMessages', input, { token: viewer })).status).toBe(403);
  });

  it('ends with an error when its connection is deleted, and when there is none', async () => {
    const { id: connectionId } = await connect(gantry, 'gantry');
    const follow = () => openStream(gantry.url, 'connections.onMessage', { token, input: { connectionId } });
    const stream = await follow();
    await untilBegun(stream);
    await gantry.ok('connections.delete', { id: connectionId }, { token });
    for (const each of [stream, await follow()]) {
      await each.ended;
      expect(each.error).toMatchObject({ message: 'Connection not found', data: { code: 'NOT_FOUND' } });
    }
  });

  it('ends with an error when the service stops, after which clients connect again', async () => {
    const other = await startGantry();
    const { id: connectionId } = await connect(other, 'gantry');
    const stream = await openStream(other.url, 'connections.onMessage', {
      token: await other.tokenFor('ADMIN'),
      input: { connectionId },
    });
    await untilBegun(stream);
    await other.stop();
    await stream.ended;
    expect(stream.error).toMatchObject({
      message: 'The service is stopping: connect again',
      data: { code: 'SERVICE_UNAVAILABLE' },
    });
  });
});

describe('the data that devices sent', () => {
  it('is listed and processed again by status without reading the messages of other statuses', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(pathOf(made.url), event());
    const [message] = await processed(gantry, made.id);
    await gantry.pool.query(
      `INSERT INTO device_messages (id, connection_id, received_at, status, method, path, bytes, parts)
       SELECT gen_random_uuid(), connection_id, received_at, status, method, path, bytes, parts
       FROM device_messages, generate_series(1, 20000) WHERE id = $1`,
      [message?.id],
    );
    await gantry.pool.query('VACUUM ANALYZE device_messages');
    const statements: Statement[] = [];
    noteStatements(gantry.pool, (statement) => statements.push(statement));
    const db = createDatabase(gantry.pool);
    const wanted = { connectionId: made.id, status: 'REFUSED' } as const;
    await listMessages(db, { ...wanted, skip: 0, take: 20 });
    await inTransaction(db, (tx) => replayMessages(tx, made.id, wanted));
    const ofMessages = statements.filter(({ text }) => text.includes('device_messages'));
    expect(ofMessages.length).toBe(3);
    for (const { text, values } of ofMessages) {
      const { rows } = await gantry.pool.query(`EXPLAIN ${text}`, values);
      expect(JSON.stringify(rows)).toContain('device_messages_by_status');
    }
    await gantry.pool.query('DELETE FROM device_messages WHERE connection_id = $1', [made.id]);
  });

  it('is removed when it is old, with its images, except those of events', async () => {
    const made = await connect(gantry, 'gantry');
    const [own, ofEvent] = [jpeg({ comment: 'a'.repeat(300) }), jpeg({ comment: 'b'.repeat(300) })];
    for (const picture of [own, ofEvent]) {
      await sendJson(
        pathOf(made.url),
        event({ images: [`data:image/jpeg;base64,${picture.toString('base64')}`] }),
      );
    }
    const messages = await processed(gantry, made.id, 2);
    expect(await gantry.count('device_message_images')).toBeGreaterThanOrEqual(2);
    const { db } = gantry.app.context;
    const { removeOldDeviceData } = await import('../src/connections/removal.ts');
    const { pageOfImages } = await import('../src/images/orphans-store.ts');
    const hashes = messages.map(({ pictures }) => pictures[0]?.slice('/images/'.length) ?? '');
    await gantry.pool.query(`UPDATE images SET touched_at = now() - interval '2 hours'`);
    // The event of the older message is gone, so that only the message refers to its picture.
    await gantry.pool.query('DELETE FROM event_images WHERE sha256 = $1', [
      Buffer.from(hashes[1] ?? '', 'hex'),
    ]);
    const orphans = async () =>
      (await pageOfImages(db, null, 10_000)).orphans.filter((each) => hashes.includes(each));
    expect(await orphans()).toEqual([]);
    await removeOldDeviceData(db, { now: Date.now() + 15 * 86_400_000, days: 14, isOver: () => false });
    expect(await messagesOf(gantry, made.id)).toEqual([]);
    expect(await gantry.count('device_message_images')).toBe(0);
    expect(await gantry.count('device_reports')).toBe(0);
    expect(await orphans()).toEqual([hashes[1]]);
  });

  it('is not removed before it was processed, however old it is', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(pathOf(made.url), keyed());
    const [message] = await processed(gantry, made.id);
    const { removeOldDeviceData } = await import('../src/connections/removal.ts');
    const { db } = gantry.app.context;
    const remove = () =>
      removeOldDeviceData(db, { now: Date.now() + 15 * 86_400_000, days: 14, isOver: () => false });
    await gantry.pool.query(`UPDATE device_messages SET due_at = now() + interval '1 hour' WHERE id = $1`, [
      message?.id,
    ]);
    await remove();
    expect(await messagesOf(gantry, made.id)).toHaveLength(1);
    await gantry.pool.query('UPDATE device_messages SET due_at = NULL WHERE id = $1', [message?.id]);
    await remove();
    expect(await messagesOf(gantry, made.id)).toEqual([]);
  });

  it('is removed with its connection', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(pathOf(made.url), keyed());
    const [message] = await processed(gantry, made.id);
    await gantry.ok('connections.delete', { id: made.id }, { token });
    const { removeOldDeviceData } = await import('../src/connections/removal.ts');
    await removeOldDeviceData(gantry.app.context.db, { now: Date.now(), days: 14, isOver: () => false });
    for (const table of ['device_messages', 'device_reports']) {
      expect(await gantry.count(`${table} WHERE connection_id = '${made.id}'`)).toBe(0);
    }
    expect(await gantry.count(`connections WHERE id = '${made.id}'`)).toBe(0);
    expect((await eventOf(gantry, message?.eventIds[0])).id).toBe(message?.eventIds[0]);
  });
});
