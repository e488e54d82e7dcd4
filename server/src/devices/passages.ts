import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import type { GatewayApp } from './context.ts';
import { lockMessages, type MessageResult, recordEventOfHeld, recordResults } from './messages-store.ts';
import {
  absorb,
  addToWhole,
  becomePartOf,
  type CompletePassage,
  claimPassages,
  findFinished,
  finishPassage,
  type Held,
  holdReport,
  joinPassage,
  lockOthers,
  type PassageKey,
} from './passages-store.ts';
import { type DatedReport, type ReportOutcome, storeReport } from './store-report.ts';

/** The result of processing a message, and the passages in which it was held. */
export interface ResultWithPassages extends MessageResult {
  readonly passages: readonly PassageKey[];
}

/** How long a process may take to store a complete passage before another one tries, in milliseconds. */
const LEASE_MS = 30_000;

/** Collects the reports about one vehicle, which become one event. */
export class Passages {
  readonly #app: GatewayApp;

  constructor(app: GatewayApp) {
    this.#app = app;
  }

  /** Adds a report to its passage, and stores the passage if this was the last one. */
  async hold(dated: DatedReport): Promise<ReportOutcome> {
    const { connectionId, messageId } = dated;
    const held = await this.#add(dated);
    if (held.joinedTo !== null) {
      const key = { connectionId, sensorId: dated.sensorId };
      const eventId = await addToWhole(this.#app.gateways, key, { whole: held.joinedTo, messageId });
      return eventId === null ? { kind: 'held' } : { kind: 'duplicate', eventId, note: dated.note };
    }
    if (held.eventId !== null) return { kind: 'duplicate', eventId: held.eventId, note: dated.note };
    if (held.refusal !== null) return { kind: 'refused', note: held.refusal };
    return held.complete ? this.#complete(held.complete) : { kind: 'held' };
  }

  /** Records results, those of held messages together with the events that their passages became meanwhile. */
  async record(results: readonly ResultWithPassages[]): Promise<void> {
    const held = results.flatMap(({ id, passages }) =>
      passages.map((passage) => ({ ...passage, messageId: id })),
    );
    if (held.length === 0) return recordResults(this.#app.gateways, results);
    await inTransaction(this.#app.gateways, async (tx) => {
      await recordResults(tx, results);
      for (const { messageId, eventId, reason } of await findFinished(tx, held)) {
        const status = eventId === null ? 'REFUSED' : 'STORED';
        await recordEventOfHeld(tx, [messageId], { eventId, status, reason });
      }
    });
  }

  /** Stores the passages that are due. @returns their number */
  async sweep(most: number): Promise<number> {
    const due = await claimPassages(this.#app.gateways, { most, leaseMs: LEASE_MS });
    const settled = await Promise.allSettled(due.map((passage) => this.#complete(passage)));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    return due.length;
  }

  /** Adds a report to its passage, which those that it joins become part of. */
  async #add(dated: DatedReport): Promise<Held> {
    const { report, connectionId, sensorId, messageId, index, note, believedAt, receivedAt } = dated;
    const part = report.passage;
    if (!part) throw new Error('the report is not part of a passage');
    const key = { connectionId, sensorId, passage: part.id };
    const best = { report, messageId, index, note };
    const joins = (part.joins ?? []).filter((other) => other !== part.id);
    const hold = (tx: Executor, isLast: boolean) =>
      holdReport(tx, { ...key, part: { ...part, isLast }, best, believedAt, receivedAt }, LEASE_MS);
    if (joins.length === 0) return hold(this.#app.gateways, part.isLast);
    return inTransaction(this.#app.gateways, async (tx) => {
      // The passages are locked in one order, so that two messages with the same ids wait for one another.
      const first = await hold(tx, false);
      const whole = await lockOthers(tx, key, joins);
      if (whole !== null && first.joinedTo === null) {
        await becomePartOf(tx, key, whole);
        return { ...first, joinedTo: whole };
      }
      for (const other of [...joins].sort()) {
        const joined = await joinPassage(tx, key, other, receivedAt);
        if (joined) await absorb(tx, key, joined);
      }
      return hold(tx, part.isLast);
    });
  }

  async #complete({ best, images, ...passage }: CompletePassage): Promise<ReportOutcome> {
    const { report, messageId, index, note = null } = best;
    const all = [...new Set([...(report.event.images ?? []), ...images])];
    const outcome = await storeReport(this.#app, {
      ...passage,
      arrivedAt: passage.receivedAt,
      isKnown: false,
      messageId,
      index,
      note,
      report: { ...report, key: `passage:${passage.passage}`, event: { ...report.event, images: all } },
    });
    const eventId = 'eventId' in outcome ? outcome.eventId : null;
    const reason = 'note' in outcome ? outcome.note : null;
    const refused = outcome.kind === 'unknownDevice' ? 'UNKNOWN_DEVICE' : 'REFUSED';
    const status = eventId === null ? refused : 'STORED';
    await inTransaction(this.#app.gateways, async (tx) => {
      const messageIds = await finishPassage(tx, passage, { eventId, reason });
      // If the result of one of these messages is being recorded, it is either recorded first, as held, or its transaction
      // finds this passage finished.
      await lockMessages(tx, messageIds);
      await recordEventOfHeld(tx, messageIds, { eventId, status, reason });
    });
    return outcome;
  }
}
