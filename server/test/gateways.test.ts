import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { deviceFormats } from '@gantry/contract/values';
import { describe, expect, it } from 'vitest';
import { devicePayload } from './device-messages.ts';
import {
  connect,
  event,
  eventOf,
  keyedEvent,
  messagesOf,
  newSensor,
  pathOf,
  processed,
  send,
  sendJson,
} from './gateway-calls.ts';
import { eventually, sharedGantry } from './harness.ts';
import { sendRaw } from './raw-http.ts';
import { jpeg } from './sample-images.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

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

  it('has the address that is chosen for it, and refuses what is not the address of a service', async () => {
    const { addresses, listensLocally } = await gantry.ok('connections.getAddresses', undefined, { token });
    expect(listensLocally).toBe(true);
    expect(addresses).toContainEqual({ origin: gantry.url, isLoopback: true });
    const loopback = addresses.map(({ isLoopback }: { isLoopback: boolean }) => isLoopback);
    expect(loopback).toEqual([...loopback].sort((one, other) => Number(one) - Number(other)));
    const made = await connect(gantry, 'hikvision', { origin: 'https://gantry.example:8443' });
    expect(made.url).toBe(`https://gantry.example:8443/gateway/hikvision/${made.token}`);
    expect(made.instructions.join('\n')).toContain('gantry.example');
    for (const origin of ['http://10.0.0.5/path', 'ftp://10.0.0.5', '10.0.0.5:4000', 'http://10.0.0.5:80']) {
      const refusal = await gantry.refusal(
        'connections.create',
        { sensorId: made.sensorId, format: 'hikvision', origin },
        { token },
      );
      expect(refusal).toMatchObject({ status: 400, data: { issues: [{ path: 'origin' }] } });
    }
  });

  it.each(deviceFormats)('of the format %s shows its steps again, without its secrets', async (format) => {
    const made = await connect(gantry, format);
    const shown = await gantry.ok(
      'connections.getInstructions',
      { id: made.id, origin: 'http://10.0.0.5:4000' },
      { token },
    );
    expect(shown.instructions).toHaveLength(made.instructions.length);
    expect(shown.url).toMatch(/^http:\/\/10\.0\.0\.5:4000\//);
    const text = JSON.stringify(shown);
    for (const secret of [made.token, made.password]) expect(text).not.toContain(secret);
    expect(text).toContain('********');
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
    expect((await sendJson(gantry, pathOf(made.url), event())).status).toBe(404);
    expect((await sendJson(gantry, pathOf(next.url), event())).status).toBe(200);
    await gantry.ok('connections.delete', { id: made.id }, { token });
    expect((await sendJson(gantry, pathOf(next.url), event())).status).toBe(404);
    expect(await gantry.refusal('connections.getById', { id: made.id }, { token })).toMatchObject({
      status: 404,
    });
    const other = await connect(gantry, 'gantry');
    await gantry.ok('sensors.delete', { id: other.sensorId }, { token });
    await eventually(
      () => sendJson(gantry, pathOf(other.url), event()),
      ({ status }) => status === 404,
    );
  });
});

describe('a message of a device', () => {
  it('is stored unchanged and becomes an event', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await sendJson(gantry, pathOf(made.url), event({ vehicleSpeed: 48 }));
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

  it('has the time of receipt, and says so, when the clock of the device is wrong', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(gantry, pathOf(made.url), event({ timestamp: '2126-01-01T00:00:00Z' }));
    const [message] = await processed(gantry, made.id);
    const reason = expect.stringMatching(
      /^The event has the time of receipt, because timestamp "2126-01-01T00:00:00Z" is [\d.]+ days ahead: set the clock/,
    );
    expect(message).toMatchObject({ status: 'STORED', reason });
    const tried = await gantry.ok('connections.tryReading', { id: made.id }, { token });
    expect(tried).toMatchObject({ status: 'STORED', reason });
  });

  it('is one event, however often and whenever it arrives', async () => {
    const made = await connect(gantry, 'gantry');
    const before = await gantry.count('events');
    for (const body of [keyedEvent(), keyedEvent({ timestamp: '2126-01-01T00:00:00Z' })]) {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => sendJson(gantry, pathOf(made.url), body)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    const messages = await processed(gantry, made.id, 10);
    expect(messages.filter(({ status }) => status === 'STORED')).toHaveLength(2);
    expect(messages.filter(({ status }) => status === 'DUPLICATE')).toHaveLength(8);
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(2);
    expect((await gantry.count('events')) - before).toBe(2);
  });

  it('of a Hikvision camera, with its exact bytes, is an event with its images', async () => {
    const made = await connect(gantry, 'hikvision');
    const xml = await devicePayload('hikvision-anpr-deepinview-v58.xml');
    const sent = jpeg();
    const part = (name: string, type: string, bytes: Buffer) => [
      `--boundary\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
      bytes,
      '\r\n',
    ];
    const body = Buffer.concat(
      [
        ...part('anpr.xml', 'text/xml; charset="UTF-8"', xml),
        ...part('licensePlatePicture.jpg', 'image/pjpeg', Buffer.alloc(0)),
        ...part('detectionPicture.jpg', 'image/jpeg', sent),
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
    expect(Buffer.from(await image.arrayBuffer())).toEqual(sent);
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

  it('with a heartbeat is a liveness signal and not an event', async () => {
    const made = await connect(gantry, 'dahua');
    const before = await gantry.count('events');
    const body = await devicePayload('dahua-itsapi-keepalive.json');
    const answer = await send(gantry, `${pathOf(made.url)}/NotificationInfo/KeepAlive`, body, {
      'content-type': 'application/json',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ Result: true });
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'ALIVE', eventIds: [] });
    const sensor = await gantry.ok('sensors.getById', { id: made.sensorId });
    expect(sensor).toMatchObject({ status: 'ONLINE' });
    expect(sensor.lastHeartbeat).not.toBeNull();
    expect(await gantry.count('events')).toBe(before);
  });

  it('with a heartbeat that is processed again later is no liveness signal', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(gantry, `${pathOf(made.url)}/heartbeat`, {});
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
    await sendJson(gantry, pathOf(made.url), event());
    await processed(gantry, made.id);
    const lastSeen = async () =>
      (await gantry.ok('sensors.getById', { id: made.sensorId })).lastCommunication;
    const before = await eventually(lastSeen, (at) => at !== null);
    const age = async (table: string, columns: string, where: string, id: string) =>
      gantry.pool.query(
        `UPDATE ${table} SET ${columns} = ${columns} - interval '1 day' WHERE ${where} = $1`,
        [id],
      );
    await age('device_messages', 'received_at', 'connection_id', made.id);
    await age('sensors', 'last_communication', 'id', made.sensorId);
    expect(await lastSeen()).not.toEqual(before);
    await gantry.ok('connections.replay', { connectionId: made.id }, { token });
    await processed(gantry, made.id);
    // A later contact of another sensor: once it has been written, those of the replay would have been written too.
    const other = await connect(gantry, 'gantry');
    await sendJson(gantry, pathOf(other.url), event());
    await eventually(
      async () => (await gantry.ok('sensors.getById', { id: other.sensorId })).lastCommunication,
      (at) => at !== null,
    );
    expect(Date.now() - Date.parse(await lastSeen())).toBeGreaterThan(80_000_000);
  });

  it('that cannot be read is answered 200 and recorded with its reason', async () => {
    const made = await connect(gantry, 'hikvision');
    const path = pathOf(made.url);
    const before = await gantry.count('events');
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
      expect((await send(gantry, path, body, { 'content-type': type })).status).toBe(200);
    }
    const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect((await send(gantry, path, Buffer.from([0x1f, 0x8b, 8, 0]), gzip)).status).toBe(400);
    const messages = await processed(gantry, made.id, bodies.length);
    for (const { status, reason } of messages) {
      expect(['REFUSED', 'IGNORED']).toContain(status);
      expect(reason).not.toBeNull();
    }
    expect(await gantry.count('events')).toBe(before);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['BR', brotliCompressSync],
    ['', gzipSync],
  ])('may be compressed with %s', async (encoding, compress) => {
    const made = await connect(gantry, 'gantry');
    const body = compress(Buffer.from(JSON.stringify(event({ description: 'x'.repeat(9_000_000 / 1_000) }))));
    const headers = { 'content-type': 'application/json', ...(encoding && { 'content-encoding': encoding }) };
    expect((await send(gantry, pathOf(made.url), body, headers)).status).toBe(200);
    const [message] = await processed(gantry, made.id);
    expect(message?.status).toBe('STORED');
    const detail = await gantry.ok('connections.getMessage', { id: message?.id }, { token });
    expect(JSON.parse(detail.parts[0].text)).toMatchObject(event());
  });

  it('that is too large without its compression, damaged, or compressed otherwise is refused before it is stored', async () => {
    const made = await connect(gantry, 'hikvision');
    const path = pathOf(made.url);
    const blanks = Buffer.alloc(11 * 1024 * 1024, ' ');
    for (const [encoding, body, status] of [
      ['gzip', gzipSync(blanks), 413],
      ['br', brotliCompressSync(blanks), 413],
      ['deflate', deflateSync(blanks), 413],
      ['gzip', gzipSync(Buffer.from('<a/>')).subarray(0, 15), 400],
      ['br', Buffer.from('<a/>'), 400],
      ['zstd', Buffer.from('<a/>'), 415],
      ['gzip, br', Buffer.from('<a/>'), 415],
      ['constructor', Buffer.from('<a/>'), 415],
    ] as const) {
      const answer = await send(gantry, path, body, { 'content-encoding': encoding });
      expect(answer.status, encoding).toBe(status);
      if (status === 415) expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br');
    }
    expect(await gantry.count(`device_messages WHERE connection_id = '${made.id}'`)).toBe(0);
  });

  it('with too many elements or values is refused with 413 before it is stored', async () => {
    const made = await connect(gantry, 'hikvision');
    for (const body of [
      `<a>${'<b/>'.repeat(500_001)}</a>`,
      `{"a": "\\",[", "b": [${'0,'.repeat(1_000_001)}0]}`,
    ]) {
      expect((await send(gantry, pathOf(made.url), body)).status).toBe(413);
    }
    expect(await gantry.count(`device_messages WHERE connection_id = '${made.id}'`)).toBe(0);
  });

  it('of 3 MB of XML with 100,000 elements becomes its events', async () => {
    const made = await connect(gantry, 'datex2');
    const record = (n: number) =>
      `<situation id="S${n}"><overallSeverity>low</overallSeverity><situationRecord id="R${n}" version="1" xsi:type="Accident"><situationRecordCreationTime>2026-03-01T10:00:00Z</situationRecordCreationTime>${'<other><a>1</a><b>2</b></other>'.repeat(30)}</situationRecord></situation>`;
    const records = Array.from({ length: 1_100 }, (_, n) => record(n)).join('');
    const body = `<d2LogicalModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><payloadPublication xsi:type="SituationPublication">${records}</payloadPublication></d2LogicalModel>`;
    expect(body.match(/<\w/g)?.length).toBeGreaterThan(100_000);
    expect(
      (await send(gantry, pathOf(made.url), gzipSync(body), { 'content-encoding': 'gzip' })).status,
    ).toBe(200);
    const [message] = await eventually(
      () => messagesOf(gantry, made.id),
      ([only]) => only !== undefined && only.status !== 'RECEIVED',
    );
    expect(message).toMatchObject({ status: 'STORED' });
    expect(message?.eventIds).toHaveLength(1_100);
  });

  it.each(['gantry', 'mapped', 'fiware', 'datex2', 'sensorthings'])(
    'of the format %s that cannot be read is answered 400, and stored with the reason',
    async (format) => {
      const options = format === 'mapped' ? { mapping: 'body' } : {};
      const made = await connect(gantry, format, { options });
      const answer = await send(gantry, pathOf(made.url), '{"eventType": ', {
        'content-type': 'application/json',
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toContain('The JSON is invalid or incomplete');
      expect(await processed(gantry, made.id)).toMatchObject([
        { status: 'REFUSED', reason: 'The JSON is invalid or incomplete' },
      ]);
    },
  );

  it('of the format gantry without a valid event is answered 400 with what is wrong', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await sendJson(gantry, pathOf(made.url), [
      event({ vehicleSpeed: -1 }),
      { eventType: 'FAX' },
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatch(/2 events are invalid: events.0: vehicleSpeed: .*; events.1: eventType: /);
    expect((await sendJson(gantry, pathOf(made.url), [event(), event({ vehicleSpeed: -1 })])).status).toBe(
      200,
    );
    const batch = { 'content-type': 'application/vnd.gantry.edge+json' };
    expect((await send(gantry, pathOf(made.url), '[{"at": "soon"}]', batch)).status).toBe(400);
  });

  it('over 10 MB is refused with 413', async () => {
    const made = await connect(gantry, 'gantry');
    const answer = await send(gantry, pathOf(made.url), ' '.repeat(10 * 1024 * 1024 + 1));
    expect(answer.status).toBe(413);
  });

  it('is counted in the metrics', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(gantry, pathOf(made.url), event());
    await processed(gantry, made.id);
    const { body } = await gantry.fetch('/metrics');
    expect(body).toMatch(/gantry_device_messages_total\{format="gantry",outcome="STORED"\} \d+/);
    expect(body).toMatch(/gantry_gateway_answers_total\{format="gantry",status="200"\} \d+/);
  });
});
