import { eventType } from '@gantry/contract/events';
import { role } from '@gantry/contract/permissions';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const other = await gantry.tokenFor('FIELD');
const apiKey = await gantry.registerSensor();

const ingest = (fields: object = {}): Promise<string> =>
  gantry.ingest(apiKey, { eventType: 'TRAFFIC_VIOLATION', ...fields });
const get = (id: string) => gantry.ok('events.getById', { id }, { token });
const review = (input: object, as = token) => gantry.ok('events.review', input, { token: as });
const refused = (input: object, as = token) => gantry.refusal('events.review', input, { token: as });
const undo = (id: string, as = token) => gantry.ok('events.undoReview', { id }, { token: as });
const refusedUndo = (id: string, as = token) => gantry.refusal('events.undoReview', { id }, { token: as });
const latest = async (...eventIds: string[]) =>
  (await gantry.ok('events.getReviews', { eventIds }, { token })).reviews;
const history = (id: string, as = token) => gantry.ok('events.getHistory', { id }, { token: as });
const flagsOf = async (id: string) => {
  const { processed, processedAt, processedBy, archived, archivedAt, archivedBy } = await get(id);
  return { processed, processedAt, processedBy, archived, archivedAt, archivedBy };
};
const movesDuring = async (work: () => Promise<unknown>) => {
  const stats = () => gantry.ok('events.getStats', {}, { token });
  const before = await stats();
  await work();
  const after = await stats();
  const names = ['total', 'processed', 'unprocessed', 'archived'] as const;
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]]));
};
const activityOf = async (id: string): Promise<unknown[]> => {
  const { rows } = await gantry.pool.query(
    `SELECT action, details FROM activity WHERE details ->> 'eventId' = $1 ORDER BY id`,
    [id],
  );
  return rows;
};

const OPERATOR = { id: expect.any(String), name: 'OPERATOR Tester' };
const UNSET = {
  processed: false,
  processedAt: null,
  processedBy: null,
  archived: false,
  archivedAt: null,
  archivedBy: null,
};

describe('events.review', () => {
  it('CONFIRMED marks the event as processed, and records who, when and why', async () => {
    const id = await ingest();
    let answer: Record<string, unknown> = {};
    const moves = await movesDuring(async () => {
      answer = await review({
        id: id.toUpperCase(),
        decision: 'CONFIRMED',
        reason: ' clear ',
        expected: null,
      });
    });
    expect(answer).toEqual({
      id: expect.any(String),
      eventId: id,
      decision: 'CONFIRMED',
      reason: 'clear',
      by: OPERATOR,
      at: expect.any(String),
    });
    expect(await flagsOf(id)).toEqual({
      ...UNSET,
      processed: true,
      processedAt: answer.at,
      processedBy: OPERATOR,
    });
    expect(moves).toEqual({ total: 0, processed: 1, unprocessed: -1, archived: 0 });
    expect(await activityOf(id)).toEqual([
      {
        action: 'events.review',
        details: { eventId: id, reviewId: answer.id, decision: 'CONFIRMED', reason: 'clear' },
      },
    ]);
  });

  it('REJECTED marks it as processed and archived, and needs a reason', async () => {
    const id = await ingest();
    for (const reason of [undefined, null, '', '  ']) {
      const { status, data } = await refused({ id, decision: 'REJECTED', reason });
      expect([status, data.issues]).toEqual([
        400,
        [{ path: 'reason', message: 'Give the reason for the rejection' }],
      ]);
    }
    expect((await refused({ id, decision: 'REJECTED', reason: 'x'.repeat(501) })).status).toBe(400);
    expect((await refused({ id, decision: 'MAYBE' })).status).toBe(400);
    const moves = await movesDuring(() => review({ id, decision: 'REJECTED', reason: 'A shadow' }));
    expect(moves).toEqual({ total: 0, processed: 1, unprocessed: -1, archived: 1 });
    expect(await get(id)).toMatchObject({ processed: true, archived: true, archivedBy: OPERATOR });
  });

  it('SECOND_LOOK leaves the event unprocessed', async () => {
    const id = await ingest();
    const moves = await movesDuring(() => review({ id, decision: 'SECOND_LOOK', expected: null }));
    expect(moves).toEqual({ total: 0, processed: 0, unprocessed: 0, archived: 0 });
    expect(await flagsOf(id)).toEqual(UNSET);
    expect(await latest(id)).toMatchObject([{ decision: 'SECOND_LOOK', reason: null }]);
  });

  it('replaces the flags that the previous review set, and no others', async () => {
    const id = await ingest();
    const rejected = await review({ id, decision: 'REJECTED', reason: 'A shadow' });
    const moves = await movesDuring(() =>
      review({ id, decision: 'CONFIRMED', expected: rejected.id }, other),
    );
    expect(moves).toEqual({ total: 0, processed: 0, unprocessed: 0, archived: -1 });
    expect(await get(id)).toMatchObject({
      processed: true,
      processedBy: { name: 'FIELD Tester' },
      archived: false,
      archivedBy: null,
    });
    await gantry.ok('events.markAsArchived', { id }, { token });
    await review({ id, decision: 'SECOND_LOOK' });
    expect(await get(id)).toMatchObject({ processed: false, archived: true, archivedBy: OPERATOR });
    expect(await latest(id)).toHaveLength(1);
  });

  it('is refused for an event that does not exist', async () => {
    const nobody = '0197d1a0-0000-7000-8000-000000000000';
    for (const id of [nobody, 'x', '\u0000']) {
      expect(await refused({ id, decision: 'CONFIRMED' })).toMatchObject({
        status: 404,
        message: 'Event not found',
      });
      expect((await gantry.refusal('events.getHistory', { id }, { token })).status).toBe(404);
      expect(await refusedUndo(id)).toMatchObject({ status: 404, message: 'Review not found' });
    }
    expect(await latest(nobody, 'x', '\u0000')).toEqual([]);
  });

  it.each(role.options)('requires Manage Incidents: %s', async (name) => {
    const own = await gantry.tokenFor(name);
    const { status } = await gantry.call(
      'events.review',
      { id: await ingest(), decision: 'CONFIRMED' },
      { token: own },
    );
    expect(status).toBe(['ADMIN', 'OPERATOR', 'FIELD'].includes(name) ? 200 : 403);
  });
});

describe('a caller who has not seen the latest review', () => {
  const AGO = String.raw`\d+ s ago \(20\d\d-[-:.\dTZ]+\): reload it before you review it`;

  it('receives who decided what and when, and changes nothing', async () => {
    const id = await ingest();
    const first = await review({ id, decision: 'CONFIRMED', expected: null });
    const late = await refused({ id, decision: 'REJECTED', reason: 'No', expected: null }, other);
    expect(late).toMatchObject({ status: 409, data: { code: 'CONFLICT' } });
    expect(late.message).toMatch(new RegExp(`^OPERATOR Tester confirmed this event ${AGO}$`));
    const second = await review(
      { id, decision: 'REJECTED', reason: 'No', expected: first.id.toUpperCase() },
      other,
    );
    const { message } = await refused({ id, decision: 'CONFIRMED', expected: first.id });
    expect(message).toMatch(new RegExp(`^FIELD Tester rejected this event ${AGO}$`));
    await undo(second.id, other);
    const gone = await refused({ id, decision: 'CONFIRMED', expected: second.id });
    expect(gone.status).toBe(409);
    expect(await latest(id)).toEqual([first]);
    await undo(first.id);
    const undone = await refused({ id, decision: 'CONFIRMED', expected: first.id }, other);
    expect(undone.message).toMatch(new RegExp(`^OPERATOR Tester undid the review that you saw ${AGO}$`));
    expect((await refused({ id, decision: 'CONFIRMED', expected: 'x' })).status).toBe(409);
    expect(await flagsOf(id)).toEqual(UNSET);
  });

  it('and saw no review receives who marked the event as processed', async () => {
    const id = await ingest();
    await gantry.ok('events.markAsProcessed', { id }, { token: other });
    const { status, message } = await refused({ id, decision: 'CONFIRMED', expected: null });
    expect(status).toBe(409);
    expect(message).toMatch(new RegExp(`^FIELD Tester marked this event as processed ${AGO}$`));
    await review({ id, decision: 'CONFIRMED', expected: null }, other);
    expect(await get(id)).toMatchObject({ processedBy: { name: 'FIELD Tester' } });
  });

  it('and saw it marked as processed can state that, and is refused when it no longer is', async () => {
    const id = await ingest();
    await gantry.ok('events.markAsProcessed', { id }, { token: other });
    const seen = { id, decision: 'CONFIRMED', expected: null, expectedProcessed: true };
    const first = await review(seen);
    expect(await get(id)).toMatchObject({ processedBy: { name: 'FIELD Tester' } });
    // Another user who saw the same state is too late: there is a review now.
    const late = await refused(seen, other);
    expect(late).toMatchObject({
      status: 409,
      message: expect.stringContaining('OPERATOR Tester confirmed'),
    });
    await undo(first.id);

    const open = await ingest();
    const { status, message } = await refused({ ...seen, id: open });
    expect(status).toBe(409);
    expect(message).toBe('Somebody took back that this event is processed: reload it before you review it');
    expect(await latest(open)).toEqual([]);
  });

  it('is refused in all but one of twelve concurrent calls', async () => {
    const id = await ingest();
    const statuses: number[] = [];
    const moves = await movesDuring(async () => {
      const tokens = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? token : other));
      const answers = await Promise.all(
        tokens.map((own) =>
          gantry.call('events.review', { id, decision: 'CONFIRMED', expected: null }, { token: own }),
        ),
      );
      statuses.push(...answers.map(({ status }) => status).sort());
    });
    expect(statuses).toEqual([200, ...Array(11).fill(409)]);
    expect(moves).toEqual({ total: 0, processed: 1, unprocessed: -1, archived: 0 });
    expect((await history(id)).reviews).toHaveLength(1);
  });
});

describe('events.undoReview', () => {
  it('restores the previous flags, and keeps the review in the history', async () => {
    const id = await ingest();
    await gantry.ok('events.markAsProcessed', { id }, { token: other });
    const before = await flagsOf(id);
    const made = await review({ id, decision: 'REJECTED', reason: 'Wrong plate' });
    const moves = await movesDuring(async () => {
      expect(await undo(made.id)).toEqual({ ...made, undoneAt: expect.any(String) });
    });
    expect(moves).toEqual({ total: 0, processed: 0, unprocessed: 0, archived: -1 });
    expect(await flagsOf(id)).toEqual(before);
    expect(await latest(id)).toEqual([]);
    expect((await history(id)).reviews).toEqual([{ ...made, undoneAt: expect.any(String) }]);
    expect((await activityOf(id)).at(-1)).toEqual({
      action: 'events.undoReview',
      details: { eventId: id, reviewId: made.id, decision: 'REJECTED' },
    });
    expect(await refusedUndo(made.id)).toMatchObject({
      status: 409,
      message: expect.stringMatching(/^This review was undone at 20/),
    });
  });

  it('restores the previous review', async () => {
    const id = await ingest();
    const first = await review({ id, decision: 'CONFIRMED' });
    const flags = await flagsOf(id);
    const second = await review({ id, decision: 'REJECTED', reason: 'No', expected: first.id }, other);
    await undo(second.id, other);
    expect(await latest(id)).toEqual([first]);
    expect(await flagsOf(id)).toEqual(flags);
  });

  it('keeps flags that were changed since', async () => {
    const id = await ingest();
    const made = await review({ id, decision: 'CONFIRMED' });
    await gantry.ok('events.markAsArchived', { id }, { token: other });
    await undo(made.id);
    expect(await get(id)).toMatchObject({
      processed: false,
      archived: true,
      archivedBy: { name: 'FIELD Tester' },
    });
  });

  it("is possible for one's own review, if it is the latest, within a minute", async () => {
    const id = await ingest();
    const made = await review({ id, decision: 'CONFIRMED' });
    expect(await refusedUndo(made.id, other)).toMatchObject({
      status: 403,
      message: 'Only OPERATOR Tester can undo this review: review the event again instead',
    });
    const next = await review({ id, decision: 'REJECTED', reason: 'No', expected: made.id }, other);
    expect(await refusedUndo(made.id)).toMatchObject({
      status: 409,
      message: expect.stringMatching(/^FIELD Tester rejected this event/),
    });
    const age = (seconds: number) =>
      gantry.pool.query(`UPDATE event_reviews SET at = now() - make_interval(secs => $2) WHERE id = $1`, [
        next.id,
        seconds,
      ]);
    await age(601);
    expect(await refusedUndo(next.id, other)).toMatchObject({
      status: 409,
      message: expect.stringMatching(/^A review can be undone for 10 min/),
    });
    await age(590);
    await undo(next.id, other);
  });
});

describe('the history of an event', () => {
  it('contains its reviews oldest first, its flags, and its incidents for users who may see them', async () => {
    const id = await ingest();
    const first = await review({ id, decision: 'SECOND_LOOK', reason: 'Dark' });
    const second = await review({ id, decision: 'CONFIRMED', expected: first.id }, other);
    const incident = await gantry.ok(
      'incidents.create',
      { title: 'Crash', type: 'COLLISION', eventIds: [id] },
      { token },
    );
    const expected = {
      eventId: id,
      reviews: [
        { ...first, undoneAt: null },
        { ...second, undoneAt: null },
      ],
      processedAt: second.at,
      processedBy: second.by,
      archivedAt: null,
      archivedBy: null,
      incidentIds: [incident.id],
    };
    expect(await history(id)).toEqual(expected);
    expect(await history(id, await gantry.tokenFor('VIEWER'))).toEqual({ ...expected, incidentIds: null });
  });

  it('can be requested for many events at once', async () => {
    const ids = await Promise.all([ingest(), ingest(), ingest()]);
    const made = await Promise.all(ids.slice(0, 2).map((id) => review({ id, decision: 'CONFIRMED' })));
    const found = await latest(...ids, ids[0]?.toUpperCase() ?? '');
    expect(new Set(found.map(({ id }: { id: string }) => id))).toEqual(new Set(made.map(({ id }) => id)));
    for (const eventIds of [[], Array(101).fill(ids[0]), undefined]) {
      expect((await gantry.call('events.getReviews', { eventIds }, { token })).status).toBe(400);
    }
  });

  it('is removed with the event', async () => {
    const id = await ingest();
    await review({ id, decision: 'CONFIRMED' });
    await gantry.ok('events.delete', { id }, { token });
    expect(await gantry.count(`event_reviews WHERE event_id = '${id}'`)).toBe(0);
  });

  it('is removed completely even if a review is stored while the event is deleted', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await ingest();
      const answers = await Promise.all([
        gantry.call('events.review', { id, decision: 'CONFIRMED' }, { token }),
        gantry.call('events.delete', { id }, { token }),
        gantry.call('events.review', { id, decision: 'SECOND_LOOK' }, { token: other }),
      ]);
      expect(answers[1]?.status).toBe(200);
      expect(await gantry.count(`event_reviews WHERE event_id = '${id}'`)).toBe(0);
    }
  });

  it.each(eventType.options)('is kept for events of the type %s', async (name) => {
    const id = await ingest({ eventType: name });
    const { id: reviewId } = await review({ id, decision: 'CONFIRMED' });
    expect(await latest(id)).toMatchObject([{ id: reviewId }]);
  });
});
