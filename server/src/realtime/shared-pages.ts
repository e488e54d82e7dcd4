import type { Pool } from 'pg';
import { type FeedPage, readChanges } from './changes-store.ts';
import { type FindEvents, type Portion, portionsOf } from './items.ts';
import { compare, type Position } from './position.ts';

/** A page of the feed that is shared by all subscribers behind it. */
export interface SharedPage extends Omit<FeedPage, 'changes'> {
  readonly from: Position;
  readonly portions: readonly Portion[];
}

/** How long a page is kept, in milliseconds: streams that reconnect together request it at about the same time. */
const KEPT_MS = 2_000;

/** Maximum number of pages to keep. The hub adds up to fifty a second. */
const KEPT_PAGES = 200;

/** Maximum number of events, about 8 MB, in all kept pages and in a single one. */
const KEPT_EVENTS = 5_000;

/** Reads pages of the feed for several subscribers at once. */
export interface SharedPages {
  /**
   * A page with the changes after the position. Callers that wait at nearby positions get the same page, and one page
   * is read at a time, from the position of the caller that has waited longest.
   */
  read(from: Position): Promise<SharedPage>;
  /** Keeps a new page from the position for sharing, if any subscriber was behind recently. */
  share(from: Position, page: FeedPage): SharedPage;
}

interface Waiting {
  readonly from: Position;
  readonly resolve: (page: SharedPage) => void;
  readonly reject: (error: unknown) => void;
}

export function createSharedPages(pool: Pool, findEvents: FindEvents): SharedPages {
  let kept: SharedPage[] = [];
  let waiting: Waiting[] = [];
  let isReading = false;
  /** When a page was last requested, by the monotonic clock. */
  let askedAt = Number.NEGATIVE_INFINITY;

  const forget = (page: SharedPage): void => {
    kept = kept.filter((each) => each !== page);
  };

  const keep = (page: SharedPage): void => {
    kept.push(page);
    setTimeout(forget, KEPT_MS, page).unref();
    let events = kept.reduce((sum, { portions }) => sum + sizeOf(portions), 0);
    while (kept.length > KEPT_PAGES || (events > KEPT_EVENTS && kept.length > 1)) {
      events -= sizeOf(kept.shift()?.portions ?? []);
    }
  };

  const share = (from: Position, { changes, ...rest }: FeedPage): SharedPage => {
    const all = portionsOf(findEvents, changes);
    const portions = someOf(all);
    const last = portions.at(-1);
    const isCut = last !== undefined && portions.length < all.length;
    const page: SharedPage = {
      ...rest,
      ...(isCut && { next: last.end.position, isFull: true, at: last.end.at }),
      from: { ...from, index: 0 },
      portions,
    };
    if (performance.now() - askedAt < KEPT_MS) keep(page);
    return page;
  };

  const readNext = async ({ from }: Waiting): Promise<void> => {
    const isServed = (page: SharedPage | null, each: Waiting): boolean =>
      compare(each.from, from) === 0 || (page !== null && covers(page, each.from));
    const serve = (page: SharedPage | null, settle: (each: Waiting) => void): void => {
      const served = waiting.filter((each) => isServed(page, each));
      waiting = waiting.filter((each) => !isServed(page, each));
      for (const each of served) settle(each);
    };
    try {
      const page = share(from, await readChanges(pool, from));
      serve(page, ({ resolve }) => resolve(page));
    } catch (error) {
      serve(null, ({ reject }) => reject(error));
    }
  };

  const readOn = async (): Promise<void> => {
    isReading = true;
    for (let oldest = waiting[0]; oldest; oldest = waiting[0]) await readNext(oldest);
    isReading = false;
  };

  return {
    share,
    read(from) {
      askedAt = performance.now();
      const page = kept.findLast((each) => covers(each, from));
      if (page) return Promise.resolve(page);
      return new Promise((resolve, reject) => {
        waiting.push({ from, resolve, reject });
        if (!isReading) void readOn();
      });
    },
  };
}

// Changes before the end of a page are final, so the page serves every position within it. It does not serve its end,
// where subscribers need the changes after it.
function covers(page: SharedPage, position: Position): boolean {
  return compare(page.from, position) <= 0 && compare(position, page.next) < 0;
}

function sizeOf(portions: readonly Portion[]): number {
  return portions.reduce((sum, { size }) => sum + size, 0);
}

/** The first portions, as many as stay within the limit of events, but at least one. */
function someOf(portions: readonly Portion[]): readonly Portion[] {
  let events = 0;
  const beyond = portions.findIndex(({ size }, index) => {
    events += size;
    return index > 0 && events > KEPT_EVENTS;
  });
  return beyond === -1 ? portions : portions.slice(0, beyond);
}
