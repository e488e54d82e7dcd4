import { describe, expect, it } from 'vitest';
import { devicePayload } from './device-messages.ts';
import { type Created, connect, eventOf, pathOf, processed } from './gateway-calls.ts';
import { challengeOf, digestHeader } from './gateway-digest.ts';
import { sharedGantry } from './harness.ts';
import { sendRaw } from './raw-http.ts';
import { jpeg, png } from './sample-images.ts';

const gantry = await sharedGantry();

type Part = readonly [headers: readonly string[], content: string | Buffer];

/** A request as its bytes are on the wire; `Content-Length` is added unless the body is in chunks. */
const request = (lines: readonly string[], body: string | Buffer, isChunked = false): Buffer => {
  const bytes = Buffer.from(body);
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
  return Buffer.concat([
    Buffer.from(`${[...lines, length].join('\r\n')}\r\n\r\n`),
    isChunked ? inChunks(bytes, 1_000) : bytes,
  ]);
};
const inChunks = (bytes: Buffer, size: number): Buffer => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
};
const multipart = (boundary: string, parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

/** The final answers; those with a status of 1xx only tell the device to go on. */
const exchange = async (...bytes: readonly Buffer[]) =>
  (await sendRaw(gantry.url, ...bytes)).filter(({ status }) => status >= 200);

const eventOfOnly = async ({ id }: Created, count = 1) => {
  const messages = await processed(gantry, id, count);
  expect(messages.map(({ status }) => status)).toContain('STORED');
  const ids = [...new Set(messages.flatMap(({ eventIds }) => eventIds))];
  expect(ids).toHaveLength(1);
  return eventOf(gantry, ids[0]);
};

describe('a request as devices send it', () => {
  it('by a Dahua camera (ITSAPI): asked for a Digest, and repeated on the fixed path', async () => {
    const made = await connect(gantry, 'dahua', { timeZone: 'Europe/Berlin' });
    const uri = '/NotificationInfo/TollgateInfo';
    const picture = jpeg({ comment: 'd'.repeat(200) });
    const body = JSON.stringify({
      Picture: {
        NormalPic: { PicName: 'a.jpg', Content: picture.toString('base64') },
        Plate: { IsExist: true, PlateNumber: 'BRA2E19', PlateColor: 'White' },
        SnapInfo: { DeviceID: 'itc-1', AccurateTime: '2026-03-01 10:00:00.123', Direction: 'Obverse' },
        Vehicle: { VehicleType: 'SaloonCar' },
      },
    });
    const lines = [
      `POST ${uri} HTTP/1.1`,
      'Host: 192.168.1.10:4000',
      'Accept: */*',
      'Content-Type: application/json',
    ];
    const [refused] = await exchange(request([...lines, 'Connection: close'], body));
    expect(refused?.status).toBe(401);
    const asked = await gantry.fetch(uri, { method: 'POST' });
    const authorization = digestHeader({
      algorithm: 'MD5',
      challenge: challengeOf(asked.headers.get('www-authenticate') ?? '', 'MD5'),
      username: made.username,
      password: made.password,
      method: 'POST',
      uri,
    });
    const [answer] = await exchange(
      request([...lines, `Authorization: ${authorization}`, 'Connection: close'], body),
    );
    expect(answer).toMatchObject({ status: 200, body: { Result: true } });
    expect(await eventOfOnly(made)).toMatchObject({
      licensePlateNumber: 'BRA2E19',
      timestamp: '2026-03-01T09:00:00.123Z',
      images: [expect.stringContaining('/images/')],
    });
  });

  it('by a Dahua camera (EventHttpUpload): images behind the JSON, several messages on one connection', async () => {
    const made = await connect(gantry, 'dahua');
    const [scene, plate] = [jpeg({ comment: 'scene' }), jpeg({ comment: 'plate' })];
    const event = {
      Action: 'Pulse',
      Code: 'TrafficJunction',
      Data: {
        GroupID: 7,
        IndexInGroup: 1,
        RealUTC: 1772359200,
        UTC: 1772384400,
        TrafficCar: { PlateNumber: '鄂A06654', Speed: 41 },
      },
    };
    const text = JSON.stringify({ Channel: 0, Events: [event], Time: '01-03-2026 10:00:00' });
    const body = Buffer.concat([Buffer.from(`${text}\r\n`), scene, plate]);
    const lines = [
      `POST ${pathOf(made.url)} HTTP/1.1`,
      'User-Agent: Dahua',
      'Host: 10.0.0.5',
      'Content-Type: image/jpeg',
    ];
    const answers = await exchange(
      Buffer.concat([
        request([...lines, 'Connection: Keep-Alive'], body),
        request([...lines, 'Connection: Keep-Alive'], body),
        request([...lines, 'Connection: close'], body),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await eventOfOnly(made, 3)).toMatchObject({
      licensePlateNumber: '鄂A06654',
      timestamp: '2026-03-01T10:00:00.000Z',
      images: [expect.any(String), expect.any(String)],
    });
  });

  it('by an Axis camera: multipart in chunks, after Expect: 100-continue, with Basic', async () => {
    const made = await connect(gantry, 'axis-lpv');
    const event = JSON.parse(String(await devicePayload('axis-fflpr-event.json')));
    const boundary = '------------------------d74496d66958873e';
    const body = multipart(boundary, [
      [
        ['Content-Disposition: form-data; name="event"', 'Content-Type: application/json'],
        JSON.stringify({ ...event, carState: 'lost', capture_timestamp: String(Date.now()) }),
      ],
      // The first image is not of the stated type, and the second one is empty.
      [
        ['Content-Disposition: form-data; name="image"; filename="image.jpg"', 'Content-Type: image/jpeg'],
        png({ shade: 9 }),
      ],
      [['Content-Disposition: form-data; name="image"; filename="crop.jpg"', 'Content-Type: image/jpeg'], ''],
    ]);
    const basic = Buffer.from(`${made.username}:${made.password}`).toString('base64');
    const [answer] = await exchange(
      request(
        [
          'POST /gateway/axis-lpv HTTP/1.1',
          'Host: gantry.example.org',
          `Authorization: Basic ${basic}`,
          'Accept: */*',
          `Content-Type: multipart/form-data; boundary=${boundary}`,
          'Expect: 100-continue',
          'Connection: close',
        ],
        body,
        true,
      ),
    );
    expect(answer?.status).toBe(200);
    expect(await eventOfOnly(made)).toMatchObject({
      licensePlateNumber: 'RLE11684',
      images: [expect.any(String)],
    });
  });

  it('by a device that puts a slash before its path', async () => {
    const made = await connect(gantry, 'tvt');
    const beat = await devicePayload('tvt-nvr-v2-keepalive.xml');
    const lines = [`POST /${pathOf(made.url)} HTTP/1.1`, 'Host: 10.0.0.5:4000', 'Connection: close'];
    const [answer] = await exchange(request(lines, beat));
    expect(answer?.status).toBe(200);
    expect(await processed(gantry, made.id, 1)).toMatchObject([{ status: 'ALIVE' }]);
  });

  it('by a TVT NVR: the request line in absolute form, keepalives between', async () => {
    const made = await connect(gantry, 'tvt');
    const [beat, vehicle] = [
      await devicePayload('tvt-nvr-v2-keepalive.xml'),
      await devicePayload('tvt-ipc-v1-lpr-vehice.xml'),
    ];
    const lines = [
      `POST http://10.0.0.5:4000${pathOf(made.url)} HTTP/1.1`,
      'Host: 10.0.0.5:4000',
      'Content-Type: application/soap+xml; charset=utf-8',
    ];
    const answers = await exchange(
      Buffer.concat([
        request([...lines, 'Connection: keep-alive'], beat),
        request([...lines, 'Connection: keep-alive'], vehicle),
        request([...lines, 'Connection: close'], beat),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const messages = await processed(gantry, made.id, 3);
    expect(messages.map(({ status }) => status).sort()).toEqual(['ALIVE', 'ALIVE', 'STORED']);
  });

  it('by firmware that speaks HTTP/1.0, writes headers in its own way and breaks the body into pieces', async () => {
    const made = await connect(gantry, 'tattile', { timeZone: 'Europe/Madrid' });
    const body = await devicePayload('tattile-msg-doc.xml');
    const head = `POST ${pathOf(made.url)} HTTP/1.0\r\ncontent-TYPE:text/xml\r\nContent-length:  ${body.length}\r\nUser-Agent:\r\n\r\n`;
    const [answer] = await exchange(
      Buffer.from(head.slice(0, 30)),
      Buffer.from(head.slice(30)),
      body.subarray(0, 100),
      body.subarray(100),
    );
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await eventOfOnly(made)).toMatchObject({ licensePlateNumber: '7459MTL' });
  });

  it('by a Milesight camera with GET, and twice within a short time', async () => {
    const made = await connect(gantry, 'milesight');
    const line = `GET ${pathOf(made.url)}?Caption=LPR&description=MS12345 HTTP/1.1\r\nHost: 10.0.0.5\r\n`;
    const answers = await exchange(
      Buffer.from(`${line}Connection: keep-alive\r\n\r\n${line}Connection: close\r\n\r\n`),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await eventOfOnly(made, 2)).toMatchObject({ licensePlateNumber: 'MS12345' });
  });

  it('by Plate Recognizer Stream: a form with the JSON in a field', async () => {
    const made = await connect(gantry, 'platerecognizer');
    const text = String(await devicePayload('platerecognizer-stream-webhook-tester.json'));
    const [answer] = await exchange(
      request(
        [
          'POST /gateway/platerecognizer HTTP/1.1',
          'Host: gantry.example.org',
          'User-Agent: python-requests/2.28.1',
          'Accept-Encoding: gzip, deflate',
          'Accept: */*',
          'Connection: close',
          `Authorization: Token ${made.token}`,
          'Content-Type: application/x-www-form-urlencoded',
        ],
        `json=${encodeURIComponent(text)}`,
      ),
    );
    expect(answer?.status).toBe(200);
    expect((await processed(gantry, made.id))[0]).toMatchObject({ status: 'STORED' });
  });
});

describe('a message without a time and an id of its maker', () => {
  const frame = (path: string, text: string) =>
    gantry.fetch(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: text });

  it('is one event when it is repeated, also at the same time and when it is read again', async () => {
    const made = await connect(gantry, 'ops243');
    await Promise.all(Array.from({ length: 5 }, () => frame(pathOf(made.url), 'A+045')));
    const messages = await processed(gantry, made.id, 5);
    expect(messages.map(({ status }) => status).sort()).toEqual([
      'DUPLICATE',
      'DUPLICATE',
      'DUPLICATE',
      'DUPLICATE',
      'STORED',
    ]);
    await eventOfOnly(made, 5);
    await gantry.ok(
      'connections.replay',
      { connectionId: made.id },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(new Set((await processed(gantry, made.id, 5)).flatMap(({ eventIds }) => eventIds)).size).toBe(1);
  });

  it('is another event after a while, and when anything in it differs', async () => {
    const made = await connect(gantry, 'ops243');
    await frame(pathOf(made.url), 'A+045');
    await processed(gantry, made.id);
    // As if it had been received a minute ago.
    await gantry.pool.query(
      `UPDATE device_reports SET received_at = received_at - interval '1 minute', key_hash =
         substring(key_hash FROM 1 FOR 24) || int8send(
           (extract(epoch FROM received_at) * 1000)::bigint - 60000) WHERE connection_id = $1`,
      [made.id],
    );
    await frame(pathOf(made.url), 'A+045');
    await frame(pathOf(made.url), 'A-045');
    const messages = await processed(gantry, made.id, 3);
    expect(messages.map(({ status }) => status)).toEqual(['STORED', 'STORED', 'STORED']);
    expect(new Set(messages.flatMap(({ eventIds }) => eventIds)).size).toBe(3);
  });

  it('is another event each time when an edge buffer gave it a key, or its sender may give it one', async () => {
    const radar = await connect(gantry, 'ops243');
    const at = new Date().toISOString();
    const batch = ['1', '2'].map((key) => ({ at, key, text: 'A+045' }));
    const sent = await gantry.fetch(pathOf(radar.url), {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.gantry.edge+json' },
      body: JSON.stringify(batch),
    });
    expect(sent.status).toBe(200);
    expect(sent.body).toEqual({ stored: 2 });
    const own = await connect(gantry, 'gantry');
    for (let n = 0; n < 2; n++) await frame(pathOf(own.url), '{"eventType":"VEHICLE_DETECTION"}');
    for (const { id } of [radar, own]) {
      const messages = await processed(gantry, id, 2);
      expect(messages.map(({ status }) => status)).toEqual(['STORED', 'STORED']);
    }
  });

  it('is no longer the last one when others arrive, although the clock of its edge buffer is far ahead', async () => {
    const radar = await connect(gantry, 'ops243');
    const token = await gantry.tokenFor('ADMIN');
    const last = () => gantry.ok('connections.getById', { id: radar.id }, { token });
    const sendOf = (at: number, key: string) =>
      gantry.fetch(pathOf(radar.url), {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.gantry.edge+json' },
        body: JSON.stringify([{ at: new Date(at).toISOString(), key, text: `A+0${key}` }]),
      });
    const ahead = Date.UTC(2100, 0, 1);
    for (let n = 0; n < 2; n++) await sendOf(ahead, '45');
    expect(await processed(gantry, radar.id)).toHaveLength(1);
    // The clock of the service may be a little behind that of the test.
    const before = Date.now() - 1_000;
    await sendOf(before, '50');
    expect(await processed(gantry, radar.id, 2)).toHaveLength(2);
    expect(Date.parse((await last()).lastMessageAt)).toBe(before);
  });
});
