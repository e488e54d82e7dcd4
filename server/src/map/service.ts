import type { Readable } from 'node:stream';
import type { MapState, StagedRoads } from '@gantry/contract/map';
import { type ActivityAction, recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, notFound } from '../platform/error.ts';
import type { StagedRecord } from './folder.ts';
import type { MapServices } from './start.ts';

export type MapContext = ActorContext<Core & MapServices>;

/** The roads on the map, and the file that was received last. */
export async function getMap({ app }: MapContext): Promise<MapState> {
  const [current, staged] = await Promise.all([app.roadsFolder.current(), app.roadsFolder.staged()]);
  const { version: _, ...shown } = current ?? { version: null };
  return {
    current: current && (shown as MapState['current']),
    staged: staged && toStaged(staged),
    hasBaseMap: app.config.MAP_PMTILES !== undefined,
  };
}

/** What the sender of a file says about it. */
export interface RoadsFileFacts {
  readonly fileName: string | null;
  readonly attribution: string | null;
}

/**
 * Receives a file with roads and begins to read it; nothing on the map changes. A file that was received before and is not applied
 * is discarded.
 * @throws AppError `conflict` while another file is read; as `RoadsFolder.receive`
 */
export async function receiveRoads(
  ctx: MapContext,
  input: Readable,
  facts: RoadsFileFacts,
): Promise<StagedRoads> {
  const { app, actor } = ctx;
  await requireIdle(ctx);
  const id = await app.roadsFolder.receive(input);
  try {
    // Another file may have been received meanwhile.
    await requireIdle(ctx);
    const record: StagedRecord = {
      id,
      ...facts,
      at: new Date(app.clock.now()).toISOString(),
      by: { id: actor.id, name: `${actor.firstName} ${actor.lastName}` },
      state: 'READING',
      progress: 0,
      problem: null,
      report: null,
    };
    await recorded(ctx, 'map.receiveFile', { fileName: facts.fileName }, async () => {
      await app.roadsFolder.clear(id);
      await app.roadsReading.begin(record);
    });
    return toStaged(record);
  } catch (error) {
    await app.roadsFolder.removeUpload(id);
    throw error;
  }
}

/** Puts a file that was read on the map. @throws AppError `notFound`; `conflict` while it is read, or when it was refused */
export async function applyRoads(ctx: MapContext, id: string): Promise<MapState> {
  const { state, fileName, report } = await stagedWith(ctx, id);
  if (state !== 'READY')
    throw new AppError(
      'conflict',
      state === 'READING'
        ? 'The file is being read: wait until it is ready'
        : 'The file cannot be used: send another one',
    );
  await recorded(ctx, 'map.applyFile', { fileName, roads: report?.kept }, async () => {
    if (!(await ctx.app.roadsFolder.apply(id))) throw notFound('File with roads');
    await ctx.app.roadsFolder.clear();
  });
  return getMap(ctx);
}

/** Discards a file that is not applied; one that is being read is no longer read. @throws AppError `notFound` */
export async function discardRoads(ctx: MapContext, id: string): Promise<MapState> {
  const { fileName } = await stagedWith(ctx, id);
  await recorded(ctx, 'map.discardFile', { fileName }, async () => {
    await ctx.app.roadsReading.stop(id);
    await ctx.app.roadsFolder.clear();
  });
  return getMap(ctx);
}

/** Takes the roads off the map. @throws AppError `notFound` when there are none */
export async function removeRoads(ctx: MapContext): Promise<MapState> {
  const before = await ctx.app.roadsFolder.current();
  await recorded(ctx, 'map.remove', { fileName: before?.fileName ?? null }, async () => {
    if (!(await ctx.app.roadsFolder.remove())) throw notFound('Map with roads');
  });
  return getMap(ctx);
}

async function requireIdle({ app }: MapContext): Promise<void> {
  if ((await app.roadsFolder.staged())?.state === 'READING')
    throw new AppError(
      'conflict',
      'Another file with roads is being read: wait until it is ready, or discard it',
    );
}

async function stagedWith({ app }: MapContext, id: string): Promise<StagedRecord> {
  const staged = await app.roadsFolder.staged();
  if (staged?.id !== id) throw notFound('File with roads');
  return staged;
}

/** Does something that is recorded: nothing is done that cannot be recorded, and what fails is not recorded. */
function recorded(
  { app, actor, caller }: MapContext,
  action: ActivityAction,
  details: Record<string, unknown>,
  work: () => Promise<void>,
): Promise<void> {
  return inTransaction(app.db, async (tx) => {
    await recordActivity(tx, actor.id, caller, action, details);
    await work();
  });
}

function toStaged(record: StagedRecord): StagedRoads {
  return { ...record, at: new Date(record.at) };
}
