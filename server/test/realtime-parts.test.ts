import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Inbox } from '../src/realtime/follow.ts';
import type { FeedItem } from '../src/realtime/items.ts';
import { compare, type Position, readCursor, writeCursor } from '../src/realtime/position.ts';

const item = (seq: number): FeedItem =>
  ({
    topic: 'sensors',
    payload: { sensorId: String(seq) },
    cursor: { position: { xid: 1n, seq: BigInt(seq), index: 0 }, at: seq },
  }) as unknown as FeedItem;

const positions: fc.Arbitrary<Position> = fc.record({
  xid: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  seq: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  index: fc.nat(1000),
});

describe('an inbox', () => {
  it('returns what it was offered, in order, and null when nothing arrives', async () => {
    const inbox = new Inbox(10);
    inbox.offer(item(1));
    inbox.offer(item(2));
    expect(await inbox.take(1_000)).toEqual({ kind: 'item', item: item(1) });
    expect(await inbox.take(1_000)).toEqual({ kind: 'item', item: item(2) });
    expect(await inbox.take(10)).toBeNull();
  });

  it('wakes a waiting reader', async () => {
    const inbox = new Inbox(10);
    const waiting = inbox.take(10_000);
    inbox.offer(item(7));
    expect(await waiting).toEqual({ kind: 'item', item: item(7) });
  });

  it('drops what does not fit until it has been emptied, and reports the number once', async () => {
    const inbox = new Inbox(2);
    for (let seq = 1; seq <= 5; seq++) inbox.offer(item(seq));
    expect(await inbox.take(0)).toMatchObject({ item: { cursor: { at: 1 } } });
    inbox.offer(item(6));
    expect(await inbox.take(0)).toMatchObject({ item: { cursor: { at: 2 } } });
    expect(await inbox.take(0)).toMatchObject({ kind: 'missed', count: 4, cursor: { at: 6 } });
    inbox.offer(item(7));
    expect(await inbox.take(0)).toMatchObject({ item: { cursor: { at: 7 } } });
    expect(await inbox.take(0)).toBeNull();
  });

  it('that was ended returns nothing more, or fails with the reason', async () => {
    const left = new Inbox(2);
    left.offer(item(1));
    left.end(null);
    expect(await left.take(1_000)).toBeNull();
    expect(left.isOpen()).toBe(false);
    const expired = new Inbox(2);
    const waiting = expired.take(10_000);
    expired.end(new Error('expired'));
    await expect(waiting).rejects.toThrow('expired');
    await expect(expired.take(0)).rejects.toThrow('expired');
    expect(() => expired.isOpen()).toThrow('expired');
  });
});

describe('the id of a message', () => {
  it('denotes one position, for any position', () => {
    fc.assert(
      fc.property(positions, fc.nat(), (position, at) => {
        expect(readCursor(writeCursor({ position, at }))).toEqual({ position, at });
      }),
    );
  });

  it('is invalid when it is beyond what PostgreSQL can count', () => {
    expect(readCursor(`${2n ** 64n}.0.0.0`)).toBeNull();
    expect(readCursor(`0.${2n ** 63n}.0.0`)).toBeNull();
    expect(readCursor('1.2.3.4 ')).toBeNull();
  });

  it('is ordered first by transaction, then by number, then within the group', () => {
    fc.assert(
      fc.property(positions, positions, (a, b) => {
        const key = ({ xid, seq, index }: Position) =>
          `${String(xid).padStart(20, '0')} ${String(seq).padStart(19, '0')} ${String(index).padStart(7, '0')}`;
        const expected = key(a) === key(b) ? 0 : key(a) < key(b) ? -1 : 1;
        expect(Math.sign(compare(a, b))).toBe(expected);
      }),
    );
  });
});
