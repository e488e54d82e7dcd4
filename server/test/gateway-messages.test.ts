import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { claimMessages } from '../src/devices/messages-store.ts';
import { listMessages, replayMessages } from '../src/devices/messages-view-store.ts';
import { removeOldDeviceData } from '../src/devices/removal-store.ts';
import { pageOfImages } from '../src/images/orphans-store.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import {
  type Created,
  connect,
  event,
  eventOf,
  keyedEvent,
  messagesOf,
  pathOf,
  processed,
  sendJson,
} from './gateway-calls.ts';
import { eventually, sharedGantry, startGantry, untilBegun } from './harness.ts';
import { notedDatabase, type Statement } from './noted-statements.ts';
import { jpeg } from './sample-images.ts';
import { openStream, type Stream } from './sse.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

describe('a report that was received before', () => {
  /** The number of groups of events that were given to the database. */
  const groups = async (): Promise<number> => {
    const { body } = await gantry.fetch('/metrics');
    return Number(/^gantry_commit_group_size_count (\d+)$/m.exec(body)?.[1]);
  };
  const sent = async (connection: Created, body: unknown, count: number) => {
    await sendJson(gantry, pathOf(connection.url), body);
    return (await processed(gantry, connection.id, count))[0];
  };

  it('is recognised by its key before anything is written', async () => {
    const made = await connect(gantry, 'gantry');
    const known = [keyedEvent(), keyedEvent()];
    const first = await sent(made, known, 1);
    expect(first?.status).toBe('STORED');
    const places = async () =>
      (
        await gantry.pool.query(
          'SELECT ctid, received_at FROM device_reports WHERE connection_id = $1 ORDER BY key_hash',
          [made.id],
        )
      ).rows;
    const before = { places: await places(), groups: await groups() };
    const second = await sent(made, known, 2);
    expect(second).toMatchObject({ status: 'DUPLICATE', eventIds: first?.eventIds });
    expect({ places: await places(), groups: await groups() }).toEqual(before);
    // Only what is new in the next snapshot becomes an event.
    const third = await sent(made, [...known, keyedEvent()], 3);
    expect(third).toMatchObject({
      status: 'STORED',
      eventIds: [...(first?.eventIds ?? []), expect.any(String)],
    });
    expect(await groups()).toBe(before.groups + 1);
  });

  it('becomes its event if that was not stored', async () => {
    const made = await connect(gantry, 'gantry');
    const report = keyedEvent();
    const first = await sent(made, report, 1);
    await gantry.pool.query('DELETE FROM events WHERE id = ANY ($1::uuid[])', [first?.eventIds]);
    expect(await sent(made, report, 2)).toMatchObject({ status: 'STORED', eventIds: first?.eventIds });
    expect(await eventOf(gantry, first?.eventIds[0])).toMatchObject({ eventType: 'PLATE_RECOGNITION' });
  });
});

describe('a small message with one report', () => {
  it('is stored with its event by one commit before its device is answered', async () => {
    // In a service of its own: after a repeated report, messages are stored alone for some groups.
    await using gantry = await startGantry();
    const made = await connect(gantry, 'gantry');
    // Of now, because the partition of another month does not exist yet.
    const report = keyedEvent({ timestamp: new Date().toISOString() });
    expect((await sendJson(gantry, pathOf(made.url), report)).status).toBe(200);
    const [message] = await messagesOf(gantry, made.id);
    expect(message).toMatchObject({ status: 'STORED', reason: null, eventIds: [expect.any(String)] });
    const { rows } = await gantry.pool.query(
      `SELECT count(DISTINCT transaction) AS transactions, count(*) AS rows FROM (
         SELECT xmin::text AS transaction FROM device_messages WHERE id = $1
         UNION ALL SELECT xmin::text FROM events WHERE id = $2
         UNION ALL SELECT xmin::text FROM device_reports WHERE connection_id = $3)`,
      [message?.id, message?.eventIds[0], made.id],
    );
    expect(rows).toEqual([{ transactions: 1, rows: 3 }]);
    expect((await eventOf(gantry, message?.eventIds[0])).metadata).toMatchObject({ messageId: message?.id });
  });

  it('is stored alone, and answered, while events cannot be stored', async () => {
    await using gantry = await startGantry();
    const made = await connect(gantry, 'gantry');
    const lock = await gantry.pool.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const report = () => keyedEvent({ timestamp: new Date().toISOString() });
    const first = sendJson(gantry, pathOf(made.url), report());
    await sleep(500);
    expect((await sendJson(gantry, pathOf(made.url), report())).status).toBe(200);
    expect((await messagesOf(gantry, made.id)).map(({ status }) => status)).toEqual(['RECEIVED']);
    await lock.query('ROLLBACK');
    lock.release();
    expect((await first).status).toBe(200);
    const messages = await processed(gantry, made.id, 2);
    expect(messages.map(({ status }) => status)).toEqual(['STORED', 'STORED']);
  });

  it('is stored once with the status that it would have alone, whatever arrives beside it', async () => {
    const connections = await Promise.all([1, 2, 3].map(() => connect(gantry, 'gantry')));
    const reports = Array.from({ length: 40 }, () => keyedEvent());
    const sent = connections.flatMap((made) =>
      Array.from({ length: 80 }, () => ({ made, report: reports[Math.floor(Math.random() * 40)] })),
    );
    const unread = connections.map((made) => ({ made, report: { eventType: 7 } }));
    const answers = await Promise.all(
      [...sent, ...unread].map(({ made, report }) => sendJson(gantry, pathOf(made.url), report)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    for (const made of connections) {
      const messages = await processed(gantry, made.id, 81);
      const own = sent.filter((each) => each.made === made).map(({ report }) => report);
      const stored = messages.filter(({ status }) => status === 'STORED').flatMap(({ eventIds }) => eventIds);
      expect(new Set(stored).size).toBe(stored.length);
      expect(stored).toHaveLength(new Set(own).size);
      const repeated = messages.filter(({ status }) => status === 'DUPLICATE');
      expect(repeated).toHaveLength(own.length - stored.length);
      for (const { eventIds } of repeated) expect(stored).toContain(eventIds[0]);
      expect(messages.filter(({ status }) => status === 'REFUSED')).toHaveLength(1);
      const { total } = await gantry.ok('events.getAll', { sensorId: made.sensorId, take: 1 }, { token });
      expect(total).toBe(stored.length);
    }
  });
});

describe('a mapping', () => {
  it('sees the headers of its messages without secrets, also when they are tried and replayed', async () => {
    const options = { mapping: '{"plate": headers.`x-plate`, "description": $string(headers)}' };
    const made = await connect(gantry, 'mapped', { options });
    const headers = {
      'X-Plate': 'HD 1',
      'X-Forwarded-Uri': `/gateway/mapped/${made.token}`,
      'X-Api-Key': 'a',
      Cookie: 'b=c',
      'X-Auth-Token': 'd',
    };
    await sendJson(gantry, pathOf(made.url), {}, headers);
    const [message] = await processed(gantry, made.id);
    const stored = await eventOf(gantry, message?.eventIds[0]);
    expect(stored.licensePlateNumber).toBe('HD 1');
    const seen = JSON.parse(stored.description);
    expect(seen).toMatchObject({ 'content-type': 'application/json', 'x-plate': 'HD 1' });
    for (const name of ['x-forwarded-uri', 'x-api-key', 'cookie', 'x-auth-token', 'authorization']) {
      expect(seen).not.toHaveProperty(name);
    }
    expect(await gantry.ok('connections.tryReading', { id: made.id }, { token })).toMatchObject({
      events: [{ licensePlateNumber: 'HD 1' }],
    });
  });

  it('of 19,000 characters is tried with POST', async () => {
    const made = await connect(gantry, 'mapped');
    await sendJson(gantry, pathOf(made.url), { lp: 'LONG 1' });
    await processed(gantry, made.id);
    const mapping = `{"plate": body.lp} /* ${'ä'.repeat(18_900)} */`;
    const answer = await gantry.fetch('/trpc/connections.tryReading', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ json: { id: made.id, options: { mapping } } }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body.result.data.json.events).toMatchObject([{ licensePlateNumber: 'LONG 1' }]);
    // Other queries are refused with POST, as before.
    const other = await gantry.fetch('/trpc/connections.getAll', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{"json": {}}',
    });
    expect(other.status).toBe(405);
  });

  it('names keys that are not known and paths without a value, in the message and when it is tried', async () => {
    const options = {
      mapping: '{"plate": body.lp, "speed": body.kmhh, "colour": "red", "severity": "urgent"}',
    };
    const made = await connect(gantry, 'mapped', { options });
    await sendJson(gantry, pathOf(made.url), { lp: 'NM 1', kmh: 5 });
    const [message] = await processed(gantry, made.id);
    expect(message?.status).toBe('STORED');
    const tried = await gantry.ok('connections.tryReading', { id: made.id }, { token });
    for (const reason of [message?.reason, tried.reason]) {
      expect(reason).toContain('speed has no value, because the message has none at body.kmhh');
      expect(reason).toContain('not known and were ignored: colour');
      expect(reason).toContain('severity "urgent" was left out');
    }
    await gantry.ok('connections.update', { id: made.id, options: { mapping: '{}' } }, { token });
    await sendJson(gantry, pathOf(made.url), { lp: 'NM 2' });
    expect((await processed(gantry, made.id, 2))[0]).toMatchObject({ status: 'REFUSED', eventIds: [] });
  });

  it('is tried on the last message, compiled before it is saved, and applied by replay', async () => {
    const made = await connect(gantry, 'mapped');
    await sendJson(gantry, pathOf(made.url), { car: { no: 'XY 99', kmh: 61 } });
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
    for (const slow of [1, 2, 3]) await sendJson(gantry, pathOf(made.url), { slow });
    await processed(gantry, made.id, 3);
    await sendJson(gantry, pathOf(made.url), { plate: 'B AB 1234' });
    const statuses = async () => (await messagesOf(gantry, made.id)).map(({ status }) => status);
    const refused = ['REFUSED', 'REFUSED', 'REFUSED'];
    await eventually(statuses, ([newest]) => newest !== 'RECEIVED');
    expect(await statuses()).toEqual(['FAILED', ...refused]);
    const changed = { id: made.id, options: { mapping, minConfidence: 0.5 } };
    await gantry.ok('connections.update', changed, { token });
    // The pause does not apply to another expression.
    const options = { mapping: '{"plate": body.plate}' };
    await gantry.ok('connections.update', { id: made.id, options }, { token });
    await eventually(statuses, ([newest]) => newest === 'STORED');
  });
});

describe('a message that blocks or ends the process', () => {
  /** Stores the message as a process leaves it that began to process it that often without a result. */
  const leave = (id: string, unfinished: number) =>
    gantry.pool.query(
      `UPDATE device_messages SET status = 'RECEIVED', event_ids = '{}', unfinished = $2, due_at = now() WHERE id = $1`,
      [id, unfinished],
    );
  const stored = async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(gantry, pathOf(made.url), keyedEvent());
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([only]) => only?.status === 'STORED',
    );
    return { connection: made.id, id: message?.id ?? '' };
  };

  it('is given up after three attempts, with the reason, until it is processed again', async () => {
    const { connection, id } = await stored();
    await leave(id, 3);
    const [given] = await eventually(
      () => messagesOf(gantry, connection),
      ([only]) => only?.status === 'FAILED',
    );
    expect(given?.reason).toBe('The service began to process it 3 times and was blocked or ended each time');
    await gantry.ok('connections.replay', { messageId: id }, { token });
    await eventually(
      () => messagesOf(gantry, connection),
      ([only]) => only?.status === 'DUPLICATE' || only?.status === 'STORED',
    );
  });

  it('is tried up to three times, and an attempt with a result counts from zero again', async () => {
    const { connection, id } = await stored();
    await leave(id, 2);
    await eventually(
      () => messagesOf(gantry, connection),
      ([only]) => only?.status === 'DUPLICATE' || only?.status === 'STORED',
    );
    const { rows } = await gantry.pool.query('SELECT unfinished FROM device_messages WHERE id = $1', [id]);
    expect(rows).toEqual([{ unfinished: 0 }]);
  });

  it('is claimed alone, so that no other message is suspected', async () => {
    const first = await stored();
    const others = await Promise.all([stored(), stored()]);
    const claim = () =>
      inTransaction(gantry.app.context.db, async (tx) => {
        await tx.execute('UPDATE device_messages SET due_at = NULL WHERE due_at IS NOT NULL');
        const due = [first, ...others].map(({ id }) => id);
        await tx.execute(`UPDATE device_messages SET due_at = now() - interval '1 hour', unfinished = 0
          WHERE id = ANY ('{${due}}')`);
        await tx.execute(`UPDATE device_messages SET unfinished = 1 WHERE id = '${others[0]?.id}'`);
        const rounds: number[] = [];
        for (const _ of due) {
          const claimed = await claimMessages(tx, { most: 100, mostBytes: 1e6, leaseMs: 60_000 });
          rounds.push(claimed.length);
        }
        await tx.execute('UPDATE device_messages SET due_at = NULL');
        return rounds;
      });
    const rounds = await claim();
    expect(rounds.reduce((sum, each) => sum + each, 0)).toBe(3);
    expect(rounds).toContain(1);
    expect(Math.max(...rounds)).toBeLessThan(3);
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
    await sendJson(gantry, pathOf(made.url), event());
    const seen = await eventually(
      async () => shown(first),
      (messages) => messages.some(({ data }) => data.message.status === 'STORED'),
    );
    first.close();
    await sendJson(gantry, pathOf(made.url), event());
    await sendJson(gantry, pathOf(made.url), event());
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
    await sendJson(gantry, pathOf(made.url), event());
    const [message] = await processed(gantry, made.id);
    await gantry.pool.query(
      `INSERT INTO device_messages (id, connection_id, received_at, status, method, path, bytes, parts)
       SELECT gen_random_uuid(), connection_id, received_at, status, method, path, bytes, parts
       FROM device_messages, generate_series(1, 20000) WHERE id = $1`,
      [message?.id],
    );
    await gantry.pool.query('VACUUM ANALYZE device_messages');
    const statements: Statement[] = [];
    const db = notedDatabase(gantry.pool, (statement) => statements.push(statement));
    const wanted = { connectionId: made.id, status: 'REFUSED' } as const;
    await listMessages(db, { ...wanted, skip: 0, take: 20 });
    await inTransaction(db, (tx) => replayMessages(tx, made.id, wanted));
    const ofMessages = statements.filter(({ text }) => text.includes('device_messages'));
    expect(ofMessages).toHaveLength(3);
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
        gantry,
        pathOf(made.url),
        event({ images: [`data:image/jpeg;base64,${picture.toString('base64')}`] }),
      );
    }
    const messages = await processed(gantry, made.id, 2);
    expect(await gantry.count('device_message_images')).toBeGreaterThanOrEqual(2);
    const { db } = gantry.app.context;
    const hashes = messages.map(({ pictures }) => pictures[0]?.slice('/images/'.length) ?? '');
    await gantry.pool.query(`UPDATE images SET touched_at = now() - interval '2 hours'`);
    // The event of the older message is gone, so that only the message refers to its image.
    await gantry.pool.query('DELETE FROM event_images WHERE sha256 = $1', [
      Buffer.from(hashes[1] ?? '', 'hex'),
    ]);
    const orphans = async () =>
      (await pageOfImages(db, null, 10_000)).orphans
        .map(({ sha256 }) => sha256)
        .filter((each) => hashes.includes(each));
    expect(await orphans()).toEqual([]);
    await removeOldDeviceData(db, { now: Date.now() + 15 * 86_400_000, days: 14, isOver: () => false });
    expect(await messagesOf(gantry, made.id)).toEqual([]);
    expect(await gantry.count('device_message_images')).toBe(0);
    expect(await gantry.count('device_reports')).toBe(0);
    expect(await orphans()).toEqual([hashes[1]]);
  });

  it('is not removed before it was processed, however old it is', async () => {
    const made = await connect(gantry, 'gantry');
    await sendJson(gantry, pathOf(made.url), keyedEvent());
    const [message] = await processed(gantry, made.id);
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
    await sendJson(gantry, pathOf(made.url), keyedEvent());
    const [message] = await processed(gantry, made.id);
    await gantry.ok('connections.delete', { id: made.id }, { token });
    await removeOldDeviceData(gantry.app.context.db, { now: Date.now(), days: 14, isOver: () => false });
    for (const table of ['device_messages', 'device_reports']) {
      expect(await gantry.count(`${table} WHERE connection_id = '${made.id}'`)).toBe(0);
    }
    expect(await gantry.count(`connections WHERE id = '${made.id}'`)).toBe(0);
    expect((await eventOf(gantry, message?.eventIds[0])).id).toBe(message?.eventIds[0]);
  });
});
