import { HOUR_MS } from '@gantry/contract/durations';
import { findHeld } from '../../events/holds-store.ts';
import {
  listEventsWithImagesSince,
  markAsUnstored,
  pageOfEventsWithImages,
  pageOfImages,
  removeDanglingReferences,
  removeOrphans,
  removeReferences,
} from '../../images/orphans-store.ts';
import { moveFilesToSegments, rewriteSegments } from '../../images/rewrite.ts';
import type { Transaction } from '../../platform/database/transaction.ts';
import { type Cutoffs, lastCutoff } from './cutoffs.ts';
import { type Run, removeRecorded, showLife } from './remove.ts';

const EVENTS_AT_ONCE = 2_000;
const IMAGES_AT_ONCE = 10_000;

/** Number of files removed at the same time, per transaction; the change feed waits for it. */
const FILES_AT_ONCE = 8;

/** Number of images in segments removed in one transaction. */
const ROWS_AT_ONCE = 1_000;

/** How far before the last run to begin: images of that time were too recent for it. */
const OVERLAP_MS = 2 * HOUR_MS;

/**
 * Removes the images to which no event, note or message of a device refers. References from events whose images are due
 * do not count, unless the event is under a legal hold.
 * @param since start of the last complete run (Unix milliseconds), if any
 */
export async function removeDueImages(run: Run, due: Cutoffs, since: number | null): Promise<void> {
  if (due.images !== null) await releaseOldImages(run, due.images);
  await releaseImagesOfNone(run, due, since);
  await collectOrphans(run);
  await tidyFiles(run);
}

/**
 * Processes pages, each of which begins after the last id of the previous one. Each is a liveness signal of the run, because
 * there may be many of them with nothing to remove.
 */
async function throughPages(
  run: Run,
  read: (after: string | null) => Promise<string[]>,
  work: (ids: readonly string[]) => Promise<unknown>,
): Promise<void> {
  let after: string | null = null;
  while (!run.stopped()) {
    const ids: string[] = await read(after);
    await showLife(run);
    if (ids.length === 0) return;
    await work(ids);
    after = ids.at(-1) ?? null;
  }
}

function releaseOldImages(run: Run, cutoff: number): Promise<void> {
  return throughPages(
    run,
    (after) => pageOfEventsWithImages(run.db, cutoff, after, EVENTS_AT_ONCE),
    (ids) =>
      removeRecorded(run, async (tx) => {
        const held = await findHeld(tx, ids);
        await removeReferences(
          tx,
          ids.filter((id) => !held.has(id)),
        );
        return [];
      }),
  );
}

/** Releases images of events that were never stored, or were removed with their month. */
async function releaseImagesOfNone(run: Run, due: Cutoffs, since: number | null): Promise<void> {
  const cutoff = lastCutoff(due);
  if (cutoff !== null) {
    await throughPages(
      run,
      (after) => pageOfEventsWithImages(run.db, cutoff, after, EVENTS_AT_ONCE),
      (ids) => removeDanglingReferences(run.db, ids),
    );
  }
  const from = since === null ? null : new Date(since - OVERLAP_MS);
  await throughPages(
    run,
    (after) => listEventsWithImagesSince(run.db, from, after, EVENTS_AT_ONCE),
    (ids) => removeDanglingReferences(run.db, ids),
  );
}

async function removeImages(run: Run, hashes: readonly string[]): Promise<void> {
  await removeRecorded(run, async (tx) => {
    const gone = await removeOrphans(tx, hashes);
    const objects = gone.filter(({ isInSegment }) => !isInSegment);
    await Promise.all(objects.map(({ sha256 }) => run.files.blobs.delete(sha256)));
    return gone.map(({ month, bytes }) => ({ class: 'images', month, rows: 1, bytes }));
  });
}

async function collectOrphans(run: Run): Promise<void> {
  let after: string | null = null;
  do {
    const { last, orphans }: Awaited<ReturnType<typeof pageOfImages>> = await pageOfImages(
      run.db,
      after,
      IMAGES_AT_ONCE,
    );
    await showLife(run);
    const hashesOf = (isInSegment: boolean) =>
      orphans.filter((each) => each.isInSegment === isInSegment).map(({ sha256 }) => sha256);
    const inSegments = hashesOf(true);
    for (let at = 0; at < inSegments.length && !run.stopped(); at += ROWS_AT_ONCE) {
      await removeImages(run, inSegments.slice(at, at + ROWS_AT_ONCE));
    }
    const objects = hashesOf(false);
    for (let at = 0; at < objects.length && !run.stopped(); at += FILES_AT_ONCE) {
      const some = objects.slice(at, at + FILES_AT_ONCE);
      await markAsUnstored(run.db, some);
      await removeImages(run, some);
    }
    after = last;
  } while (after !== null && !run.stopped());
}

/** Gives back the space of removed images, and moves files of earlier versions to segments. */
async function tidyFiles(run: Run): Promise<void> {
  const { db, log, files, now, stopped } = run;
  const transact = async (work: (tx: Transaction) => Promise<void>): Promise<void> => {
    await removeRecorded(run, async (tx) => {
      await work(tx);
      return [];
    });
  };
  await moveFilesToSegments({ db, log, files, now, stopped, transact });
  await rewriteSegments({ db, log, files, now, stopped, transact });
}
