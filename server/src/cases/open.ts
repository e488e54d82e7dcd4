import { caseFold } from '@gantry/contract/case-fold';
import {
  type CaseItemRole,
  MAX_CASE_EVENTS,
  MAX_CASE_IMAGES,
  MAX_CASE_ITEMS,
  type OpenCaseInput,
} from '@gantry/contract/cases';
import { isUuid } from '@gantry/contract/id';
import type { Role } from '@gantry/contract/permissions';
import { permissions } from '@gantry/contract/permissions';
import { plateKey } from '@gantry/contract/plate';
import { recordActivity } from '../activity/store.ts';
import { addToHold, insertHold, lockOutRemovals, lockWithTimeout } from '../events/holds-store.ts';
import { timeOfId } from '../events/id.ts';
import { hashesOfServed } from '../images/read-image.ts';
import { getIncidentRow } from '../incidents/store.ts';
import { findMergedInto } from '../incidents/work-store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import { dayOf } from '../platform/time.ts';
import type { Outbox } from '../realtime/publish.ts';
import { getHit, maySeeList } from '../watchlist/hits-store.ts';
import { type CaseContext, recordCase } from './change.ts';
import { type EventFact, findEventFacts, findFirstEventsOf } from './facts-store.ts';
import { findStored, type ItemRow, insertItems, listItems, type NewItem } from './items-store.ts';
import { readCaseRules, type StoredRules } from './rules-store.ts';
import { type CaseRow, type CaseSubject, findCaseOf, insertCase, type NewCase, nextNumber } from './store.ts';

/** The services that opening needs. */
export type OpeningParts = Pick<Core, 'settings'> & { readonly outbox: Outbox };

/** What a case is opened with: fields that stay as they are, and its events, the first one first. */
interface Opening {
  readonly subject: CaseSubject;
  readonly fields: Pick<NewCase, 'title' | 'happenedAt'> &
    Partial<Pick<NewCase, 'eventId' | 'incidentId' | 'hitId' | 'sensorId' | 'sensorName' | 'locationId'>>;
  readonly events: readonly EventFact[];
}

/**
 * Opens a case about an event, an incident or a hit, unless there is one, and puts its events under a legal hold.
 * @returns the case
 * @throws AppError `notFound`; `badRequest` when too many are open, or not everybody who verifies cases may see the hit; `conflict`
 * for an incident that was merged into another one
 */
export function openCase(ctx: CaseContext, input: OpenCaseInput): Promise<CaseRow> {
  const { app, actor, caller } = ctx;
  return inTransaction(app.db, async (tx) => {
    await lockWithTimeout(tx, lockOutRemovals);
    const opening = await openingOf(ctx, tx, input);
    if (input.kind !== undefined && input.kind !== opening.subject.kind)
      throw invalidInput('kind', `Use ${opening.subject.kind}, or leave it out`);
    const { row, isNew } = await openOnce(app, tx, opening, actor.id);
    if (isNew) await recordActivity(tx, actor.id, caller, 'cases.open', { caseId: row.id, case: row.number });
    return row;
  });
}

/**
 * Opens a case about an event that a rule asked for, in a transaction that has taken the lock of `lockOutRemovals`.
 * @param confirmedBy who confirmed the event; null if it just arrived
 * @returns whether it is new; null if the event does not exist any more
 */
export async function openForEvent(
  app: OpeningParts,
  tx: Transaction,
  eventId: string,
  confirmedBy: string | null,
): Promise<boolean | null> {
  const [event] = await findEventFacts(tx, [eventId]);
  if (!event) return null;
  const { isNew } = await openOnce(
    app,
    tx,
    ofEvent(event),
    null,
    confirmedBy === null ? {} : { confirmedBy },
  );
  return isNew;
}

async function openingOf(ctx: ActorContext, tx: Transaction, input: OpenCaseInput): Promise<Opening> {
  const { eventId, incidentId, hitId } = input;
  if (eventId !== undefined) {
    const [event] = isUuid(eventId) ? await findEventFacts(tx, [eventId]) : [];
    if (!event) throw notFound('Event');
    return ofEvent(event);
  }
  if (incidentId !== undefined) return ofIncident(tx, incidentId);
  return ofHit(ctx, tx, hitId ?? '');
}

function ofEvent(event: EventFact): Opening {
  const what = event.violationType || event.eventType;
  const place = event.locationName ?? event.sensorName;
  return {
    subject: { kind: 'VIOLATION', id: event.id },
    fields: {
      title: place === null ? what : `${what}, ${place}`,
      eventId: event.id,
      happenedAt: new Date(timeOfId(event.id)),
    },
    events: [event],
  };
}

/** @throws AppError `notFound`; `conflict` for one without a case whose events moved to another incident */
async function ofIncident(tx: Transaction, incidentId: string): Promise<Opening> {
  const incident = await getIncidentRow(tx, incidentId);
  const into = await findMergedInto(tx, incident.id);
  if (into && !(await findCaseOf(tx, { kind: 'INCIDENT', id: incident.id })))
    throw new AppError(
      'conflict',
      `This incident was merged into “${into.title}” (${into.id}): open a case about that one`,
    );
  const events = await findFirstEventsOf(tx, incident.id, MAX_CASE_EVENTS);
  const { sensorId, locationId, title, openedAt } = incident;
  return {
    subject: { kind: 'INCIDENT', id: incident.id },
    fields: { title, incidentId: incident.id, happenedAt: openedAt, sensorId, locationId },
    events,
  };
}

async function ofHit({ actor }: ActorContext, tx: Transaction, hitId: string): Promise<Opening> {
  const hit = await getHit(tx, actor, hitId);
  const isSeen = (role: Role): boolean => maySeeList({ id: '', role }, hit.hotlist);
  if (!permissions.verifyCases.every(isSeen))
    throw invalidInput(
      'hitId',
      'Everybody who verifies cases would see the hit of a covert hotlist: show the list to their roles first',
    );
  return {
    subject: { kind: 'HIT', id: hit.id },
    fields: { title: `${hit.hotlist.name}: ${hit.reason}`, hitId: hit.id, happenedAt: hit.timestamp },
    events: await findEventFacts(tx, [hit.eventId]),
  };
}

async function openOnce(
  app: OpeningParts,
  tx: Transaction,
  { subject, fields, events }: Opening,
  userId: string | null,
  details: Record<string, unknown> = {},
): Promise<{ readonly row: CaseRow; readonly isNew: boolean }> {
  const known = await findCaseOf(tx, subject);
  if (known) return { row: known, isNew: false };
  const now = await readDatabaseTime(tx);
  const number = await nextNumber(tx, Number(dayOf(now, app.settings.current().timezone).slice(0, 4)));
  const [first] = events;
  const holdId = await insertHold(tx, `Case ${number}`, userId);
  const row = await insertCase(tx, {
    ...(first && ofFirst(first)),
    ...fields,
    number,
    kind: subject.kind,
    openedBy: userId,
    needsSecond: needsSecond(await readCaseRules(tx), first?.violationType ?? null),
    holdId,
  });
  const items = await itemsOf(tx, events, { userId });
  const room = roomIn(items);
  await insertItems(tx, row.id, items.slice(0, room));
  await addToHold(tx, holdId, new Map(events.map((event) => [event.id, event.eventType])));
  const leftOut = items.length - room;
  await recordCase(app, tx, row, userId, 'opened', {
    ...{ ...details, title: row.title },
    ...(leftOut > 0 && { leftOut }),
  });
  return { row, isNew: true };
}

/** What a case takes over from its first event. */
function ofFirst(event: EventFact) {
  const { id: eventId, plate, plateRegion, plateConfidence, ...rest } = event;
  const { eventType, violationType, sensorId, sensorName, locationId, locationName } = rest;
  return {
    ...{ eventId, eventType, violationType, sensorId, sensorName, locationId, locationName },
    ...{ plate, plateRegion, plateConfidence, plateKey: plate === null ? null : plateKey(plate) },
  };
}

/** Whether a second person must verify cases about a type of violation. */
function needsSecond({ secondPerson }: StoredRules, violationType: string | null): boolean {
  if (violationType === null) return true;
  const wanted = caseFold(violationType);
  const rule = Object.entries(secondPerson).find(([type]) => caseFold(type) === wanted);
  return rule?.[1] ?? true;
}

/** What is said of the items of events. */
interface EventItems {
  readonly userId: string | null;
  readonly text?: string | null;
  /** The role of the first image. */
  readonly role?: CaseItemRole;
}

/**
 * Adds events to a case that is locked, and to its hold: an item for each stored image, or one for an event without any.
 * @returns the number of items
 * @throws AppError `badRequest` when the case would have too many events or images
 */
export async function addEvents(
  tx: Transaction,
  { id, holdId }: Pick<CaseRow, 'id' | 'holdId'>,
  events: readonly EventFact[],
  said: EventItems,
): Promise<number> {
  const items = await itemsOf(tx, events, said);
  await requireRoom(tx, id, items);
  await insertItems(tx, id, items);
  if (holdId !== null)
    await addToHold(tx, holdId, new Map(events.map((event) => [event.id, event.eventType])));
  return items.length;
}

async function itemsOf(
  tx: Transaction,
  events: readonly EventFact[],
  { userId, text = null, role = 'FIRST' }: EventItems,
): Promise<NewItem[]> {
  const hashes = events.map((event) => [...new Set(hashesOfServed(event.images ?? []))]);
  const stored = await findStored(tx, hashes.flat());
  return events.flatMap((event, n): NewItem[] => {
    const own = hashes[n]?.filter((sha256) => stored.has(sha256)) ?? [];
    const common = { eventId: event.id, addedBy: userId, text };
    if (own.length === 0) return [{ ...common, role: 'CONTEXT' }];
    // Of several images of one event, only the event as a whole has a time.
    const capturedAt = own.length === 1 ? new Date(timeOfId(event.id)) : null;
    // The devices that send two images of a violation send them in their order.
    const second = role === 'FIRST' ? 'SECOND' : 'CONTEXT';
    return own.map((sha256, at) => ({
      ...{ ...common, sha256, capturedAt },
      role: n > 0 || at > 1 ? 'CONTEXT' : at === 0 ? role : second,
    }));
  });
}

/** How many of the items a new case takes: those up to the last image for which there is room. */
function roomIn(items: readonly NewItem[]): number {
  const images = new Set<string>();
  const end = items.findIndex(({ sha256 }) => sha256 && images.add(sha256).size > MAX_CASE_IMAGES);
  return end === -1 ? items.length : end;
}

/** @throws AppError `badRequest` when a case would have too many events, images or items */
export async function requireRoom(tx: Transaction, caseId: string, more: readonly NewItem[]): Promise<void> {
  const known = await listItems(tx, caseId);
  const all = [...known, ...more];
  const count = (of: (item: NewItem | ItemRow) => string | null | undefined): number =>
    new Set(all.flatMap((item) => of(item) ?? [])).size;
  const limits = [
    { what: 'events', most: MAX_CASE_EVENTS, n: count(({ eventId }) => eventId) },
    { what: 'images', most: MAX_CASE_IMAGES, n: count(({ sha256 }) => sha256) },
    { what: 'items', most: MAX_CASE_ITEMS, n: all.length },
  ];
  const full = limits.find(({ n, most }) => n > most);
  if (full)
    throw new AppError(
      'badRequest',
      `A case has at most ${full.most} ${full.what}, and would have ${full.n}`,
    );
}
