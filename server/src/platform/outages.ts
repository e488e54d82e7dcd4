import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isConnectionRefused, isDatabaseAway } from './database/failure.ts';
import { safeText } from './describe-error.ts';
import type { Metrics } from './metrics.ts';

/** Keeps records of failures out of the log once one record has said that the database is away. */
export interface OutageFilter {
  /** @returns whether the record is kept back; `write` is called later if there turns out to be no outage */
  take(error: Error, write: () => void): boolean;
}

export interface OutageMonitorParts {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'databaseAway' | 'databaseOutages' | 'unloggedMessages'>;
  /** Sends the database a query; rejects when it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** Opens a connection to the database; rejects when it is refused. */
  readonly connect: () => Promise<unknown>;
  /** The ports of the database: refused connections to other ports are about other servers. */
  readonly ports: readonly number[];
}

const PROBE_EVERY_MS = 500;

/** Records kept back while it is not yet known whether there is an outage; further ones are counted. */
const MAX_HELD = 100;

/**
 * Asks the database itself, at the first failure that may be an outage, whether it is one. An outage produces two
 * records, one when it begins and one when it is over; all others are only counted. Other failures are logged as usual.
 */
export class OutageMonitor implements OutageFilter, AsyncDisposable {
  readonly #parts: OutageMonitorParts;
  readonly #ending = new AbortController();
  #held: (() => void)[] = [];
  #unlogged = 0;
  #isAway = false;
  #monitoring: Promise<void> | null = null;

  constructor(parts: OutageMonitorParts) {
    this.#parts = parts;
  }

  take(error: Error, write: () => void): boolean {
    if (this.#ending.signal.aborted || !isDatabaseAway(error) || isOfOtherServer(error, this.#parts.ports))
      return false;
    if (this.#isAway || this.#held.length >= MAX_HELD) this.#count(1);
    else this.#held.push(write);
    this.#monitoring ??= this.#monitor();
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#monitoring;
  }

  async #monitor(): Promise<void> {
    try {
      const failure = await this.#failureNow();
      if (failure !== null && !this.#ending.signal.aborted) await this.#untilBack(failure);
    } catch {
      // Disposed of during an outage.
    } finally {
      for (const write of this.#held) write();
      this.#held = [];
      this.#monitoring = null;
    }
  }

  /** @returns the reason of the outage; null if the database answers */
  async #failureNow(): Promise<unknown> {
    try {
      await this.#parts.probe();
    } catch (error) {
      return error;
    }
    // The probe uses a connection that was opened before, which works even if new ones are refused. Other failures to
    // connect are ignored: either the probe would have failed as well, or the server allows no more connections.
    const refusal = await this.#parts.connect().catch((error: unknown) => error);
    return isConnectionRefused(refusal) ? refusal : null;
  }

  async #untilBack(reason: unknown): Promise<void> {
    const { log, metrics } = this.#parts;
    const since = performance.now();
    this.#isAway = true;
    metrics.databaseAway.set(1);
    metrics.databaseOutages.inc();
    this.#count(this.#held.length);
    this.#held = [];
    // `reason` is a text, because a record with an error would be kept back.
    log.error(
      { reason: safeText(reason) },
      'the database is away: calls are answered with 503, and messages about it are only counted until it is back',
    );
    do await sleep(PROBE_EVERY_MS, undefined, { signal: this.#ending.signal, ref: false });
    while ((await this.#failureNow()) !== null);
    const seconds = Math.round((performance.now() - since) / 100) / 10;
    this.#isAway = false;
    metrics.databaseAway.set(0);
    log.warn({ seconds, unloggedMessages: this.#unlogged }, `the database is back after ${seconds} s`);
    this.#unlogged = 0;
  }

  #count(records: number): void {
    this.#unlogged += records;
    this.#parts.metrics.unloggedMessages.inc(records);
  }
}

/** Whether the error is about another server. Node adds the port to the error of a connection that could not be opened. */
function isOfOtherServer(error: Error, ports: readonly number[]): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { port: refused } = at as Error & { port?: unknown };
    if (typeof refused === 'number') return !ports.includes(refused);
  }
  return false;
}
