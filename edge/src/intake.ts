import { setTimeout as sleep } from 'node:timers/promises';
import { type Spool, SpoolFull } from '@gantry/spool';
import type { Contact, Input } from './contact.ts';
import type { Refusals } from './refused.ts';
import { InvalidMessage, type Kept, type Stamp } from './stamp.ts';

/** Maximum length of a line, in characters. Longer lines are refused. */
const MAX_LINE = 1_000_000;

/**
 * Number of characters of a line that are read. The rest is skipped, so that a device that sends no line breaks does not
 * fill the memory. A refused line is kept up to this length.
 */
export const MAX_LINE_SHOWN = 8_000_000;

/** How long to wait before a message that could not be stored is tried again, in milliseconds. */
const FULL_MS = 1_000;

/** Stores what comes in, as the text for a connection or as an event for the API, with the time at which it came. */
export class Intake {
  readonly #spool: Spool;
  readonly #refusals: Refusals;
  readonly #stamp: Stamp;
  readonly #contact: Contact;
  readonly #isConnection: boolean;
  readonly #log: (message: string) => void;
  readonly #signal: AbortSignal;

  constructor(
    spool: Spool,
    refusals: Refusals,
    stamp: Stamp,
    contact: Contact,
    isConnection: boolean,
    log: (message: string) => void,
    signal: AbortSignal,
  ) {
    this.#spool = spool;
    this.#refusals = refusals;
    this.#stamp = stamp;
    this.#contact = contact;
    this.#isConnection = isConnection;
    this.#log = log;
    this.#signal = signal;
  }

  /**
   * Stores a line of an input that can wait. A line that is too long or not an event is kept with the refused messages. If
   * storing fails, as on a full disk, it is tried again until it succeeds or the buffer is stopped. A blank line says only that
   * the device works.
   */
  async acceptLine(line: string, input: Input): Promise<void> {
    if (line === '') {
      this.#contact.heard(input);
      return;
    }
    const store = this.#storeOf(line, input);
    for (let isFirst = true; !this.#signal.aborted; isFirst = false) {
      try {
        await store();
        return;
      } catch (error) {
        this.#contact.break();
        if (isFirst)
          this.#log(
            `${error instanceof SpoolFull ? error.message : `a message could not be stored (${String(error)})`}; input waits`,
          );
        await pause(FULL_MS, this.#signal);
      }
    }
  }

  /**
   * Stores the events of a body: one, an array of them, or JSON lines. Resolves with their number when they are durable.
   * @throws InvalidMessage when one of them is not an event
   * @throws SpoolFull
   */
  async acceptBody(body: string): Promise<number> {
    this.#contact.heard('http');
    try {
      const kept = messagesIn(body).map((each) =>
        this.#isConnection ? this.#stamp.line(JSON.stringify(each)) : this.#stamp.event(each, 'http'),
      );
      await this.#append(kept);
      return kept.length;
    } catch (error) {
      this.#contact.break();
      throw error;
    }
  }

  #storeOf(line: string, input: Input): () => Promise<void> {
    try {
      if (line.length > MAX_LINE)
        throw new InvalidMessage(`The line of ${lengthOf(line)} characters is longer than ${MAX_LINE}`);
      const kept = this.#isConnection ? this.#stamp.line(line) : this.#stamp.event(parse(line), input);
      return () => this.#append([kept]);
    } catch (error) {
      if (!(error instanceof InvalidMessage)) throw error;
      // It may have been a vehicle.
      this.#contact.break();
      const refused = { kept: this.#stamp.line(line), reason: error.message };
      return () => this.#refusals.keep([refused]);
    }
  }

  #append(kept: readonly Kept[]): Promise<void> {
    return this.#spool.append(kept.map((each) => JSON.stringify(each)));
  }
}

function lengthOf(line: string): string {
  return line.length < MAX_LINE_SHOWN ? String(line.length) : `${MAX_LINE_SHOWN} or more`;
}

function messagesIn(body: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? value : [value];
  } catch {
    return body
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map(parse);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new InvalidMessage('This is not JSON');
  }
}

/** Resolves after `ms` milliseconds, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
