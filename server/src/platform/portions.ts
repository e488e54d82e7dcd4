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
