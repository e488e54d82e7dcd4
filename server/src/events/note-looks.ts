import type { ActivityServices } from '../activity/looks.ts';
import { isRecorded } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import type { ShownCall } from '../rpc/procedure.ts';
import { eventShownBy, showsPlateIn } from './hidden-plates.ts';

type LookingContext = ActorContext<Core & ActivityServices>;

/**
 * Records that a user who sees plates is shown some: one entry in ten minutes for each user and event, or for each
 * filter of a list or stream. A call of which another entry tells, such as a search for a plate, leaves no further one.
 * @returns what records each answer before it is sent, and fails if it cannot; null if none shows a plate
 */
export function noteLooks(
  ctx: LookingContext,
  { path, type, input, schema }: ShownCall,
): ((answer: unknown) => unknown) | null {
  const shows = showsPlateIn(schema);
  if (shows === null) return null;
  /** Until when the entry of the stream stands, in Unix milliseconds. */
  let until = Number.NEGATIVE_INFINITY;
  const note = async (answer: unknown): Promise<unknown> => {
    const eventId = type === 'subscription' ? null : eventShownBy(answer, schema);
    until = await (eventId === null ? noteList(ctx, path, type, input) : noteEvent(ctx, eventId));
    return answer;
  };
  return (answer) =>
    ctx.app.clock.now() < until || isRecorded(ctx.caller) || !shows(answer) ? answer : note(answer);
}

/** Records a look at an event or at one of its images. @returns as `Looks.note` */
export function noteEvent({ app, actor, caller }: LookingContext, eventId: string): Promise<number> {
  return app.looks.note({ userId: actor.id, caller, action: 'events.view', subject: { eventId } });
}

function noteList(
  { app, actor, caller }: LookingContext,
  procedure: string,
  type: string,
  input: unknown,
): Promise<number> {
  const filter = type === 'mutation' ? idsIn(input) : filterIn(input);
  const isEmpty = Object.keys(filter).length === 0;
  const subject = { procedure, ...(!isEmpty && { filter: briefly(filter) }) };
  const about = JSON.stringify([procedure, filter]);
  return app.looks.note({ userId: actor.id, caller, action: 'events.view', subject, about });
}

/** The fields that choose a part of a list, or say where a stream continues. */
const POSITION: ReadonlySet<string> = new Set([
  'skip',
  'take',
  'limit',
  'sortBy',
  'sortOrder',
  'lastEventId',
  'after',
]);

/** The settings of a device, which may contain a password. */
const SECRET: ReadonlySet<string> = new Set(['options']);

function membersOf(input: unknown): [string, unknown][] {
  return typeof input === 'object' && input !== null ? Object.entries(input) : [];
}

/** Bounds of time, which count by their days: a page that is kept up to date asks for others every few seconds. */
const TIMES: ReadonlySet<string> = new Set(['startDate', 'endDate']);
const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** What a list or stream is filtered by, without what is the same on all its pages. */
function filterIn(input: unknown): Record<string, unknown> {
  return Object.fromEntries(
    membersOf(input)
      .filter(([name, value]) => value !== undefined && !POSITION.has(name) && !SECRET.has(name))
      .map(([name, value]) => [
        name,
        TIMES.has(name) && typeof value === 'string' ? value.slice(0, DAY_CHARACTERS) : value,
      ]),
  );
}

/** What a change is about. What was changed is not repeated. */
function idsIn(input: unknown): Record<string, unknown> {
  return Object.fromEntries(
    membersOf(input).filter(([name, value]) => typeof value === 'string' && /(?:^i|I)d$/.test(name)),
  );
}

/** Maximum length of a string and of an array that are recorded; further parts are left out. */
const MAX_RECORDED_CHARACTERS = 200;
const MAX_RECORDED_ITEMS = 20;

/** A filter in the form in which it is recorded, which PostgreSQL can store. */
function briefly(value: unknown): unknown {
  if (typeof value === 'string')
    return value.slice(0, MAX_RECORDED_CHARACTERS).toWellFormed().replaceAll('\0', '\ufffd');
  if (Array.isArray(value)) return value.slice(0, MAX_RECORDED_ITEMS).map(briefly);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_RECORDED_ITEMS)
      .map(([name, each]) => [briefly(name), briefly(each)]),
  );
}
