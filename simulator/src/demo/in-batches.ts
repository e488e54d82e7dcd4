/** Number of concurrent calls: one batch of the client. */
const AT_ONCE = 50;

/** Processes all items in batches. No batch is started after the signal was aborted. */
export async function inBatches<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length && !signal.aborted; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map(work));
  }
}
