import { HOUR_MS } from '@gantry/contract/durations';
import { startJobs } from '../platform/database/jobs.ts';
import { channels } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import type { Outbox } from '../realtime/publish.ts';
import { changesOfHits, expireHits } from '../watchlist/hits-store.ts';
import type { WatchlistServices } from '../watchlist/start.ts';
import type { WebhookServices } from '../webhooks/start.ts';
import { removeFormerEntries } from './entries-store.ts';
import { ImportFiles } from './import-files.ts';
import { createImportRunner } from './import-thread.ts';
import { findWithFile, hasDueImports, listLeftStaged, removeOldRecords } from './imports-store.ts';
import { createLookBackRunner } from './look-back.ts';
import { hasDueLookBacks } from './look-backs-store.ts';
import { readSources } from './sources.ts';
import { clearStaged } from './staged-store.ts';

/** The services of hotlists that the application context contains. */
export interface HotlistServices {
  readonly hotlistFiles: ImportFiles;
}

/** Works on imports and look-backs that are due, looks into the sources of lists, and removes what is no longer needed. */
export function startHotlists(
  foundation: Foundation,
  services: WatchlistServices & WebhookServices & { readonly outbox: Outbox },
  connectionString: string,
): HotlistServices {
  const { core, listener, resources } = foundation;
  const { config, db, log, timings, clock } = core;
  const files = new ImportFiles(config.DATA_DIR);
  const imports = createImportRunner(foundation, files, connectionString);
  const lookBacks = createLookBackRunner(foundation, services);
  const wake = () => {
    imports.wake();
    lookBacks.wake();
  };
  const everyMs = timings.sweepHotlistJobsMs;
  resources.use(
    startJobs({
      runner: {
        wake,
        async [Symbol.asyncDispose]() {
          await Promise.all([imports[Symbol.asyncDispose](), lookBacks[Symbol.asyncDispose]()]);
        },
      },
      listener,
      channel: channels.hotlistJobs,
      everyMs,
      restMs: 10 * everyMs,
      log,
      failure: 'imports and look-backs that are due cannot be looked for now; the next sweep will try again',
      async sweep() {
        const isBusy = (await hasDueImports(db)) || (await hasDueLookBacks(db));
        if (isBusy) wake();
        return isBusy;
      },
    }),
  );
  let upkeepAt = Number.NEGATIVE_INFINITY;
  resources.use(
    startPeriodic(
      {
        everyMs: timings.sweepHotlistsMs,
        restMs: 10 * timings.sweepHotlistsMs,
        log,
        failure: 'hotlists cannot be kept up now; the next round will try again',
      },
      async (isOver, ending) => {
        const rules = services.webhookUrls;
        const hasSources = await readSources({ db, log, files, rules, timings, clock, ending });
        await expire(db, config.HIT_EXPIRY_HOURS, isOver);
        if (performance.now() - upkeepAt > HOUR_MS) {
          upkeepAt = performance.now();
          await removeOld(db, files, clock.now(), isOver);
        }
        return hasSources;
      },
    ),
  );
  return { hotlistFiles: files };
}

async function expire(db: Database, hours: number, isOver: () => boolean): Promise<void> {
  let expired: readonly string[];
  do {
    expired = await inTransaction(db, async (tx) => {
      const ids = await expireHits(tx, hours);
      if (ids.length > 0) await recordChanges(tx, await changesOfHits(tx, 'EXPIRED', ids));
      return ids;
    });
  } while (expired.length > 0 && !isOver());
}

/** Removes entries of former versions, files and staged lines that nobody needs. */
async function removeOld(
  db: Database,
  files: ImportFiles,
  now: number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver() && (await removeFormerEntries(db)) > 0);
  for (const importId of await listLeftStaged(db)) await clearStaged(db, importId);
  await removeOldRecords(db);
  const old = await files.listOld(now);
  const needed = await findWithFile(
    db,
    old.map(({ id }) => id),
  );
  for (const file of old) if (!needed.has(file.id)) await files.removeNamed(file);
}
