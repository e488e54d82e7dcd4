import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const other = await gantry.tokenFor('FIELD');
const apiKey = await gantry.registerSensor();

const ingest = (): Promise<string> => gantry.ingest(apiKey, { eventType: 'TRAFFIC_VIOLATION' });
const some = (n: number) => Promise.all(Array.from({ length: n }, ingest));
const call = (verb: string, input: object, as = token) => gantry.ok(`events.${verb}`, input, { token: as });
const refusal = (verb: string, input: object, as = token) =>
  gantry.refusal(`events.${verb}`, input, { token: as });
const get = (id: string) => call('getById', { id });
const stats = () => call('getStats', {});

describe('a decision about many events', () => {
  it('is recorded for each, and concurrent decisions of other users are kept and named', async () => {
    const ids = await some(100);
    const [taken = '', processed = ''] = ids;
    await call('review', { id: taken, decision: 'REJECTED', reason: 'Blurred' }, other);
    await call('markAsProcessed', { id: processed }, other);
    const before = await stats();
    const { results } = await call('reviewBatch', {
      events: ids.map((id) => ({ id, expected: null })),
      decision: 'CONFIRMED',
    });
    expect(results.map(({ id }: { id: string }) => id)).toEqual(ids);
    const conflict = (words: string) => ({
      error: { code: 'CONFLICT', message: expect.stringContaining(words) },
    });
    expect(results[0]).toEqual({ id: taken, ...conflict('FIELD Tester rejected this event') });
    expect(results[1]).toEqual({ id: processed, ...conflict('FIELD Tester marked this event as processed') });
    for (const [at, { review }] of results.slice(2).entries()) {
      expect(review).toMatchObject({
        eventId: ids[at + 2],
        decision: 'CONFIRMED',
        by: { name: 'OPERATOR Tester' },
      });
    }
    expect((await stats()).processed - before.processed).toBe(98);

    const undone = await call('undoReviewBatch', {
      ids: [...results.slice(2).map(({ review }: { review: { id: string } }) => review.id), 'no-such'],
    });
    expect(undone.results.filter((result: object) => 'review' in result)).toHaveLength(98);
    expect(undone.results.at(-1)).toEqual({
      id: 'no-such',
      error: { code: 'NOT_FOUND', message: 'Review not found' },
    });
    expect(await stats()).toEqual(before);
  });

  it('is refused as a whole only for an error that concerns all of it', async () => {
    const [id] = await some(1);
    const reason = await refusal('reviewBatch', { events: [{ id }], decision: 'REJECTED' });
    expect(reason).toMatchObject({ status: 400, data: { issues: [{ path: 'reason' }] } });
    expect((await refusal('reviewBatch', { events: [], decision: 'CONFIRMED' })).message).toContain(
      'Name at least one event',
    );
    const many = Array.from({ length: 101 }, () => ({ id: randomUUID() }));
    expect((await refusal('reviewBatch', { events: many, decision: 'CONFIRMED' })).message).toContain(
      'Name at most 100 events',
    );
    expect((await get(id as string)).processed).toBe(false);
  });
});

describe('archiving many events', () => {
  it('can be undone for the events that the call archived', async () => {
    const [mine = '', theirs = '', rejected = ''] = await some(3);
    await call('markAsArchived', { id: theirs }, other);
    await call('review', { id: rejected, decision: 'REJECTED', reason: 'Blurred' });
    const before = await stats();
    const ids = [mine, theirs, rejected, 'no-such'];
    const { results } = await call('archiveBatch', { ids });
    expect(results).toEqual([
      { id: mine, changed: true },
      { id: theirs, changed: false },
      { id: rejected, changed: false },
      { id: 'no-such', error: { code: 'NOT_FOUND', message: 'Event not found' } },
    ]);
    const undone = await call('undoArchiveBatch', { ids });
    expect(undone.results).toEqual([
      { id: mine, changed: true },
      {
        id: theirs,
        error: {
          code: 'CONFLICT',
          message: 'This event was archived by FIELD Tester: only they can take it back',
        },
      },
      {
        id: rejected,
        error: {
          code: 'CONFLICT',
          message: 'This event was archived by its rejection: undo the review instead',
        },
      },
      { id: 'no-such', error: { code: 'NOT_FOUND', message: 'Event not found' } },
    ]);
    expect(await get(mine)).toMatchObject({ archived: false, archivedAt: null, archivedBy: null });
    expect(await stats()).toEqual(before);
    expect((await call('undoArchiveBatch', { ids: [mine] })).results).toEqual([{ id: mine, changed: false }]);
  });

  it('cannot be undone later', async () => {
    const [id = ''] = await some(1);
    await call('archiveBatch', { ids: [id] });
    await gantry.pool.query(`UPDATE events SET archived_at = archived_at - interval '601 s' WHERE id = $1`, [
      id,
    ]);
    const { results } = await call('undoArchiveBatch', { ids: [id] });
    expect(results[0].error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('Archiving can be undone for 10 min'),
    });
  });
});

describe('acknowledging many alerts', () => {
  it('names the user who has acknowledged one of them before', async () => {
    await gantry.ok('watchlist.create', { pattern: 'BAT*', reason: 'Stolen' }, { token });
    for (const n of [1, 2, 3]) await gantry.ingest(apiKey, { licensePlateNumber: `BAT ${n}` });
    const { alerts } = await eventually(
      () => gantry.ok('watchlist.getAlerts', {}, { token }),
      (page) => page.total === 3,
    );
    const ids: string[] = alerts.map(({ id }: { id: string }) => id);
    await gantry.ok('watchlist.acknowledgeAlert', { id: ids[1] }, { token: other });
    const { results } = await gantry.ok(
      'watchlist.acknowledgeAlertBatch',
      { ids, note: 'Patrol is informed' },
      { token },
    );
    const done = { note: 'Patrol is informed', acknowledgedBy: { name: 'OPERATOR Tester' } };
    expect(results).toMatchObject([
      { id: ids[0], alert: done },
      { id: ids[1], error: { code: 'CONFLICT', message: expect.stringContaining('FIELD Tester') } },
      { id: ids[2], alert: done },
    ]);
  });
});

describe('an item that occurs twice in a call', () => {
  it('is processed once, and has the same result each time', async () => {
    const [id = ''] = await some(1);
    const twice = [id, id.toUpperCase()];
    const decided = await call('reviewBatch', {
      events: twice.map((each) => ({ id: each, expected: null })),
      decision: 'CONFIRMED',
    });
    const [first, second] = decided.results;
    expect(first.review.decision).toBe('CONFIRMED');
    expect(second).toEqual({ ...first, id: twice[1] });
    const archived = await call('archiveBatch', { ids: twice });
    expect(archived.results).toEqual(twice.map((each) => ({ id: each, changed: true })));
    const deleted = await call('deleteBatch', { ids: [id, id, id, id] });
    expect(deleted.results).toEqual(Array(4).fill({ id, success: true }));
  });
});

describe('deleting many events', () => {
  it('keeps those under a legal hold, and names them', async () => {
    const [gone = '', held = ''] = await some(2);
    const admin = await gantry.tokenFor('ADMIN');
    await gantry.ok('storage.setHold', { eventIds: [held], reason: 'Case 9' }, { token: admin });
    const { results } = await call('deleteBatch', { ids: [gone, held] });
    expect(results).toEqual([
      { id: gone, success: true },
      { id: held, error: { code: 'CONFLICT', message: expect.stringContaining('Case 9') } },
    ]);
    expect((await refusal('getById', { id: gone })).status).toBe(404);
    expect((await get(held)).id).toBe(held);
  });

  it('requires the permission', async () => {
    const [id] = await some(1);
    expect((await refusal('deleteBatch', { ids: [id] }, other)).status).toBe(403);
  });
});
