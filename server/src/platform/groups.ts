/** Collects items that arrive while others are being written, and writes them together as one group. */
export interface Groups<Item, Result> extends AsyncDisposable {
  /** Resolves with the result for the item once its group is written; rejects if that fails. */
  add(item: Item): Promise<Result>;
}

export interface GroupsOptions<Item, Result> {
  /** Writes a group and returns a result for each item, in order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether a single item may be to blame for the failure, so that the halves of the group are tried. */
  readonly mayBeOne: (error: unknown) => boolean;
  readonly sizeOf?: (item: Item) => number;
}

const MOST_ITEMS = 500;

/** Maximum size of a group, in the unit of `sizeOf`. A single item may be larger. */
const MOST_SIZE = 8_000_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** There is no timer: a single item is written at once, and items that arrive during a write form the next group. */
export function createGroups<Item, Result>({
  write,
  mayBeOne,
  sizeOf = () => 0,
}: GroupsOptions<Item, Result>): Groups<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | null = null;

  const take = (): Waiting<Item, Result>[] => {
    let size = 0;
    let count = 0;
    for (const { item } of waiting) {
      size += sizeOf(item);
      if (count > 0 && (count === MOST_ITEMS || size > MOST_SIZE)) break;
      count++;
    }
    const group = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return group;
  };

  const settle = async (group: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (group.length === 1 || !mayBeOne(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      const middle = group.length >> 1;
      await settle(group.slice(0, middle));
      await settle(group.slice(middle));
    }
  };

  const run = async (): Promise<void> => {
    // What arrives in the same turn of the event loop joins the first group.
    await new Promise(setImmediate);
    while (waiting.length > 0) await settle(take());
    running = null;
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        running ??= run();
      }),
    async [Symbol.asyncDispose]() {
      await running;
    },
  };
}
