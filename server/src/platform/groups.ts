import { setTimeout } from 'node:timers/promises';

/**
 * Writes groups one after another while anything waits. There is no timer: what arrives first is written at once, and
 * what arrives during a write forms the next group.
 */
export class GroupLoop implements AsyncDisposable {
  readonly #isWaiting: () => boolean;
  readonly #writeNext: () => Promise<void>;
  #running: Promise<void> | null = null;

  /**
   * @param isWaiting whether there is another group
   * @param writeNext takes the next group and writes it; must not throw
   */
  constructor(isWaiting: () => boolean, writeNext: () => Promise<void>) {
    this.#isWaiting = isWaiting;
    this.#writeNext = writeNext;
  }

  /** Whether a group is being written. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Begins to write, unless it does so already. */
  wake(): void {
    this.#running ??= this.#run();
  }

  /** Waits until nothing waits any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // What arrives in the same turn of the event loop joins the first group.
    await new Promise(setImmediate);
    while (this.#isWaiting()) await this.#writeNext();
    this.#running = null;
  }
}

/** How a group is written, and what becomes of one that fails. */
export interface GroupWriting<Item> {
  readonly write: (group: readonly Item[]) => Promise<void>;
  /**
   * Whether to write the halves of a group that failed, because a single item may be to blame. Otherwise, and always
   * for a group of one, `failed` is called.
   */
  readonly mayBeOne: (error: unknown) => boolean;
  readonly failed: (group: readonly Item[], error: unknown) => void | Promise<void>;
}

/**
 * Writes a group or, if that fails, its halves, one after the other, and so on, so that an item that always fails does
 * so alone.
 */
export async function writeOrHalve<Item>(group: readonly Item[], writing: GroupWriting<Item>): Promise<void> {
  try {
    await writing.write(group);
    return;
  } catch (error) {
    if (group.length === 1 || !writing.mayBeOne(error)) return writing.failed(group, error);
  }
  const middle = group.length >> 1;
  await writeOrHalve(group.slice(0, middle), writing);
  await writeOrHalve(group.slice(middle), writing);
}

export interface GroupsOptions<Item, Result> {
  /** Writes a group and returns a result for each item, in order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether a single item may be to blame for the failure, so that the halves of the group are tried. */
  readonly mayBeOne: (error: unknown) => boolean;
  readonly sizeOf?: (item: Item) => number;
  /** How long the first item waits for others, in milliseconds; 0 by default. For items that no caller waits for. */
  readonly gatherMs?: number;
}

const MAX_ITEMS = 500;

/** Maximum size of a group, in the unit of `sizeOf`. A single item may be larger. */
const MAX_SIZE = 8_000_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects items that arrive while others are being written, and writes them together as one group. */
export class Groups<Item, Result> implements AsyncDisposable {
  readonly #sizeOf: (item: Item) => number;
  readonly #loop = new GroupLoop(
    () => this.#waiting.length > 0,
    () => this.#writeNext(),
  );
  readonly #gatherMs: number;
  readonly #writing: GroupWriting<Waiting<Item, Result>>;
  #waiting: Waiting<Item, Result>[] = [];

  constructor({ write, mayBeOne, sizeOf = () => 0, gatherMs = 0 }: GroupsOptions<Item, Result>) {
    this.#sizeOf = sizeOf;
    this.#gatherMs = gatherMs;
    this.#writing = {
      write: async (group) => {
        const results = await write(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
      },
      mayBeOne,
      failed: (group, error) => {
        for (const { reject } of group) reject(error);
      },
    };
  }

  /** Resolves with the result for the item once its group is written; rejects if that fails. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#loop.wake();
    });
  }

  /** Waits until every item is written. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  async #writeNext(): Promise<void> {
    if (this.#gatherMs > 0 && this.#waiting.length < MAX_ITEMS) await setTimeout(this.#gatherMs);
    await writeOrHalve(this.#take(), this.#writing);
  }

  #take(): Waiting<Item, Result>[] {
    let size = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      size += this.#sizeOf(item);
      if (count > 0 && (count === MAX_ITEMS || size > MAX_SIZE)) break;
      count++;
    }
    const group = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return group;
  }
}

/** Divides items, in order, so that no portion is larger than `most`, unless a single item is. */
export function inPortions<Item>(
  items: readonly Item[],
  most: number,
  sizeOf: (item: Item) => number,
): Item[][] {
  const portions: Item[][] = [];
  let total = 0;
  for (const item of items) {
    const size = sizeOf(item);
    total += size;
    const last = portions.at(-1);
    if (last && total <= most) last.push(item);
    else {
      portions.push([item]);
      total = size;
    }
  }
  return portions;
}
