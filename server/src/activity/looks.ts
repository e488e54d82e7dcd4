import { hash } from 'node:crypto';
import type { Caller } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { type Gathered, gather } from './store.ts';

/** How long one entry stands for all looks of a user at the same event or list, in milliseconds. */
const PERIOD_MS = 600_000;

/** Maximum number of entries of this period that a process remembers. What it forgets it writes again, as a repetition. */
const MAX_KNOWN = 20_000;

/** A look of a user at something that shows plates. */
export interface Look {
  readonly userId: string;
  readonly caller: Caller;
  readonly action: 'events.view' | 'images.view';
  /** What was looked at. It is recorded, and looks at the same are one entry. */
  readonly subject: Readonly<Record<string, unknown>>;
  /** Distinguishes what was looked at, if `subject` does not. */
  readonly about?: string;
}

/** An entry of this period that is stored. */
interface Known {
  readonly row: Gathered;
  /** Number of repetitions that are not stored yet. */
  more: number;
}

/** Entries that are written by one statement. */
interface Group {
  readonly rows: Map<string, Gathered>;
  readonly written: Promise<void>;
}

/**
 * Records who looked at what: one entry in ten minutes for each user and subject. The first look is stored before its
 * answer is sent, in groups of those that wait. Repetitions are counted in memory, and the counts are stored
 * at intervals. Several processes count in the same entry.
 */
export class Looks implements AsyncDisposable {
  readonly #db: Executor;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  #waiting: Group | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** @param now the time in Unix milliseconds */
  constructor(db: Executor, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  /**
   * Records a look. When this resolves, its entry is stored.
   * @returns until when the entry stands for further looks at the same, in Unix milliseconds
   */
  async note({ userId, caller, action, subject, about }: Look): Promise<number> {
    const { address, userAgent, apiToken } = caller;
    const period = Math.floor(this.#now() / PERIOD_MS);
    const row: Gathered = {
      ...{ userId, action, period, seconds: PERIOD_MS / 1_000, details: subject },
      about: hash('sha256', about ?? JSON.stringify(subject), 'base64url'),
      caller: { address, userAgent, ...(apiToken && { apiToken }) },
    };
    const key = `${userId} ${apiToken?.id} ${action} ${row.about} ${period}`;
    const known = this.#known.get(key);
    if (known) known.more += 1;
    else {
      await this.#write(key, row);
      if (!this.#known.has(key)) this.#known.set(key, { row, more: 0 });
    }
    return (period + 1) * PERIOD_MS;
  }

  /** Stores the counts of repetitions. */
  async flush(): Promise<void> {
    const repeated = [...this.#known.values()].filter(({ more }) => more > 0);
    const rows = repeated.map(({ row, more }) => ({ ...row, count: more }));
    for (const each of repeated) each.more = 0;
    try {
      if (rows.length > 0) await gather(this.#db, rows);
    } catch (error) {
      for (const [at, each] of repeated.entries()) each.more += rows[at]?.count ?? 0;
      throw error;
    }
    this.#forget();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    // Without a database, the counts are lost, and the service stops nevertheless.
    await this.flush().catch(() => undefined);
  }

  #write(key: string, row: Gathered): Promise<void> {
    this.#waiting ??= this.#gather();
    const { rows, written } = this.#waiting;
    rows.set(key, { ...row, count: (rows.get(key)?.count ?? 0) + 1 });
    return written;
  }

  /** Begins a group, which is written as soon as the one before is. */
  #gather(): Group {
    const rows = new Map<string, Gathered>();
    const written = this.#last.then(() => {
      this.#waiting = null;
      return gather(this.#db, [...rows.values()]);
    });
    this.#last = written.catch(() => undefined);
    return { rows, written };
  }

  /** Forgets entries of former periods, and those of which there are too many. */
  #forget(): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    for (const [key, { row, more }] of this.#known) {
      if (more === 0 && (row.period !== period || this.#known.size > MAX_KNOWN)) this.#known.delete(key);
    }
  }
}

/** The service of this module that the application context contains. */
export interface ActivityServices {
  readonly looks: Looks;
}

/** Records looks, and stores the counts of repetitions at intervals. */
export function startLooks({ core: { db, clock, log, timings }, resources }: Foundation): ActivityServices {
  const looks = resources.use(new Looks(db, clock.now));
  const failure = 'repeated looks at plates cannot be counted now; the next round continues';
  resources.use(startPeriodic({ everyMs: timings.countLooksMs, log, failure }, () => looks.flush()));
  return { looks };
}
