import { seedOf } from '../random.ts';

/** A pseudo-random number from 0 to 1 that is always the same for a text, so that repeating the work changes nothing. */
export function draw(text: string): number {
  return seedOf(text) / 0x1_0000_0000;
}

/** One of the items, selected by the text. */
export function drawOne<Item>(text: string, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(draw(text) * items.length)] ?? items[0];
}
