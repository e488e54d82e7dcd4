import { seedOf } from '../random.ts';

/** What a text draws, from 0 to 1: the same every time, so that doing something again does nothing else. */
export function draw(text: string): number {
  return seedOf(text) / 0x1_0000_0000;
}

/** One of the items, drawn by the text. */
export function drawOne<Item>(text: string, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(draw(text) * items.length)] ?? items[0];
}
