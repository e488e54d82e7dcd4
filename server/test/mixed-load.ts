import { randomUUID } from 'node:crypto';
import type { Caller, HttpAnswer } from './harness.ts';

/** The events that the services acknowledged, by id. */
export interface Acknowledged {
  readonly stored: Set<string>;
  readonly processed: Set<string>;
  readonly archived: Set<string>;
  readonly deleted: Set<string>;
  /** Unexpected answers, and requests without an answer. */
  readonly faults: string[];
}

export interface MixedLoadOptions {
  readonly services: readonly Caller[];
  readonly apiKeys: readonly string[];
  readonly token: string;
  readonly clients: number;
  readonly seconds: number;
  /** The load continues until this number of events is stored, but for at most a minute. */
  readonly atLeast: number;
}

const TYPES = ['VEHICLE_DETECTION', 'SPEED_DETECTION', 'TRAFFIC_VIOLATION', 'INCIDENT'] as const;
const VIOLATIONS = [null, 'SPEEDING', 'RED_LIGHT'] as const;
const SEVERITIES = ['LOW', 'MEDIUM', 'CRITICAL'] as const;
const BATCH = 20;
const MAX_MS = 60_000;

const anyOf = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to choose from');
  return item;
};

const makeEvent = (apiKey: string) => ({
  apiKey,
  eventType: anyOf(TYPES),
  violationType: anyOf(VIOLATIONS),
  severity: anyOf(SEVERITIES),
  // Some in another hour, day, month and year, so that totals of every kind change.
  timestamp: new Date(Date.now() - anyOf([0, 0, 0, 3.6e6, 8.64e7, 2.7e9, 3.2e10])).toISOString(),
});

const makeBatch = (apiKey: string) =>
  Array.from({ length: BATCH }, () => ({ ...makeEvent(apiKey), idempotencyKey: randomUUID() }));

const idsOf = (answer: HttpAnswer | null): string[] =>
  answer?.body.result.data.json.results.map(({ eventId }: { eventId: string }) => eventId) ?? [];
const idOf = ({ body }: HttpAnswer): string => body.result.data.json.eventId;

/**
 * Reports, marks, archives and deletes events through all services at once, including the same events through several
 * of them, and records what was acknowledged.
 */
export const runMixedLoad = async (options: MixedLoadOptions): Promise<Acknowledged> => {
  const { services, apiKeys, token, clients, seconds, atLeast } = options;
  const known: string[] = [];
  const done: Acknowledged = {
    stored: new Set(),
    processed: new Set(),
    archived: new Set(),
    deleted: new Set(),
    faults: [],
  };
  const began = Date.now();
  const isOver = (): boolean => {
    const elapsed = Date.now() - began;
    return elapsed > MAX_MS || (elapsed > seconds * 1000 && done.stored.size >= atLeast);
  };

  const send = async (service: Caller, procedure: string, input: object): Promise<HttpAnswer | null> => {
    try {
      const answer = await service.call(procedure, input, { token });
      if (answer.status === 200) return answer;
      // An event that another request deleted meanwhile is not found.
      if (answer.status !== 404)
        done.faults.push(`${procedure} ${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      done.faults.push(`${procedure} ${String(error)}`);
    }
    return null;
  };
  const keep = (id: string): void => {
    done.stored.add(id);
    known.push(id);
  };

  const steps = {
    async report() {
      const answer = await send(anyOf(services), 'events.ingest', makeEvent(anyOf(apiKeys)));
      if (answer) keep(idOf(answer));
    },
    async reportMany() {
      const apiKey = anyOf(apiKeys);
      const answer = await send(anyOf(services), 'events.ingestBatch', { apiKey, events: makeBatch(apiKey) });
      for (const id of idsOf(answer)) keep(id);
    },
    /** Sends the same events to all services, each time in a different order, like devices that received no answer. */
    async reportToAllAtOnce() {
      const apiKey = anyOf(apiKeys);
      const events = makeBatch(apiKey);
      const answers = await Promise.all(
        services.map((service) =>
          send(service, 'events.ingestBatch', { apiKey, events: events.toSorted(() => Math.random() - 0.5) }),
        ),
      );
      const ids = new Set(answers.flatMap(idsOf));
      if (ids.size > BATCH) done.faults.push(`${BATCH} events have ${ids.size} ids`);
      for (const id of ids) keep(id);
    },
    async markTwice() {
      const id = anyOf(known);
      const mark = () => send(anyOf(services), 'events.markAsProcessed', { id });
      const answers = await Promise.all([mark(), mark()]);
      if (answers.some((answer) => answer !== null)) done.processed.add(id);
    },
    async archive() {
      const id = anyOf(known);
      if (await send(anyOf(services), 'events.markAsArchived', { id })) done.archived.add(id);
    },
    async remove() {
      const id = anyOf(known);
      if (await send(anyOf(services), 'events.delete', { id })) done.deleted.add(id);
    },
    async count() {
      await send(anyOf(services), 'events.getStats', {});
    },
  };
  const { report, reportMany, reportToAllAtOnce, markTwice, archive, remove, count } = steps;
  const mixture = [
    report,
    report,
    report,
    report,
    reportMany,
    reportToAllAtOnce,
    markTwice,
    archive,
    remove,
    count,
  ];

  const client = async (): Promise<void> => {
    await report();
    while (!isOver() && done.faults.length === 0) await anyOf(mixture)();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return done;
};
