import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { clientSettings } from '../../platform/database/address.ts';
import { createDatabase, type Database } from '../../platform/database/pool.ts';
import { safeText } from '../../platform/describe-error.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import { type BackupResult, type MakeOptions, makeBackup } from './make.ts';
import { BackupStopped } from './process.ts';
import { BackupRefused } from './refusal.ts';
import {
  beginBackup,
  hasRuns,
  mayBeOver,
  noteCompleted,
  noteEnded,
  noteProgress,
  SILENT_SECONDS_WITHOUT_LOCK,
} from './runs-store.ts';
import { CONNECTION_NAME } from './source-store.ts';

/** How often it is recorded that a backup is alive, in milliseconds. */
const ALIVE_MS = 5_000;
const RETRY_MS = 1_000;

/** Why a backup failed, as a text that may be stored. */
export function reasonOf(error: unknown): string {
  return error instanceof BackupRefused ? error.message : safeText(error);
}

/**
 * Makes a backup whose beginning is recorded, and records its progress and its end.
 * @param make receives a function that takes the progress, from 0 to 1
 * @throws what `make` throws
 */
export async function makeNoted(
  db: Database,
  { id, log }: { readonly id: string; readonly log: Logger },
  make: (onProgress: (done: number) => void) => Promise<BackupResult>,
): Promise<BackupResult> {
  let progress = 0;
  const beats = startPeriodic(
    { everyMs: ALIVE_MS, log, failure: 'the progress of a backup could not be recorded' },
    () => noteProgress(db, id, progress),
  );
  const onProgress = (done: number): void => {
    progress = done;
  };
  try {
    const made = await make(onProgress).finally(() => beats[Symbol.asyncDispose]());
    await noteCompleted(db, id, made);
    return made;
  } catch (error) {
    const noted =
      error instanceof BackupStopped
        ? noteEnded(db, id, 'STOPPED', null)
        : noteEnded(db, id, 'FAILED', reasonOf(error));
    await noted.catch((err: unknown) =>
      log.error({ err, backupId: id }, 'the end of a backup could not be recorded'),
    );
    throw error;
  }
}

interface RecordedOptions extends MakeOptions {
  readonly log: Logger;
}

/**
 * Makes a backup for the command, and records it in the database, so that the service knows its age.
 * @throws BackupRefused as `makeBackup` does, and when the service is making one
 */
export async function makeRecordedBackup(options: RecordedOptions): Promise<BackupResult> {
  const pool = new pg.Pool(
    clientSettings(options.connectionString, { max: 1, application_name: CONNECTION_NAME }),
  );
  pool.on('error', () => undefined);
  const db = createDatabase(pool);
  try {
    return (await hasRuns(db)) ? await makeAndNote(db, options) : await makeBackup(options);
  } finally {
    await pool.end();
  }
}

/** Records that a backup begins, if need be after waiting to see whether one in progress has lost its process. */
async function begin(db: Database, folder: string): Promise<string | null> {
  const until = performance.now() + (SILENT_SECONDS_WITHOUT_LOCK + 1) * 1_000;
  for (;;) {
    const id = await beginBackup(db, { origin: 'COMMAND', folder, startedBy: null });
    if (id !== null || performance.now() > until || !(await mayBeOver(db))) return id;
    await sleep(RETRY_MS);
  }
}

async function makeAndNote(db: Database, options: RecordedOptions): Promise<BackupResult> {
  const id = await begin(db, options.folder);
  if (id === null) {
    throw new BackupRefused('Another backup of this database is in progress: wait until it has finished');
  }
  return makeNoted(db, { id, log: options.log }, (onProgress) =>
    makeBackup({
      ...options,
      onProgress: (done) => {
        onProgress(done);
        options.onProgress?.(done);
      },
    }),
  );
}
