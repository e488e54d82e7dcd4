import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../../platform/config.ts';
import { dueOf, readMigrations } from '../../platform/database/migrate.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { areEventsDistributed, listAbsentNodes } from '../../platform/database/nodes.ts';
import { isEmbedded } from '../../platform/database/open.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { compareConnections } from '../../platform/database/wait.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { machineTime } from '../../platform/machine-time.ts';
import { advice, fine, problem } from './findings.ts';
import {
  type CheckpointState,
  listAppliedMigrations,
  readCheckpointState,
  readDirtyExpiry,
  readServerState,
  type ServerState,
} from './store.ts';

/** How far the clocks may differ, in milliseconds. Beyond the same limit, the service reports that it is degraded. */
const SKEW_MS = 5_000;
const LONG_TRANSACTION_S = 3_600;
const NEWEST_TESTED = 18;
/** The share of used transaction ids that is a problem: autovacuum frees them at a tenth by default, so something prevents it. */
const MANY_IDS = 0.4;
/** So many requested checkpoints are normal: some are requested by backups and when a server stops. */
const MANY_CHECKPOINTS = 20;
/** From this delay on, pages are written late, in hundredths of a second; the default of Linux is 3,000. */
const LATE_WRITES = 1_000;
/** The least size of `shared_buffers`, in megabytes; the default of PostgreSQL is 128. The embedded server has at least this. */
const MIN_BUFFERS = 256;

/** The database server and its schema. */
export async function checkDatabase(db: Executor, config: Config): Promise<Finding[]> {
  const state = await readServerState(db);
  return [
    ...checkServer(state),
    // The settings of the embedded server cannot be changed.
    ...((await isEmbedded(config))
      ? []
      : checkWrites(state, await readCheckpointState(db, state), await readDirtyExpiry(db))),
    ...(await checkNodes(db)),
    await checkConnections(db, config),
    await checkClock(db),
    ...(await checkSchema(db, state)),
  ];
}

function checkServer(state: ServerState): Finding[] {
  const { version, off, encoding, standby, may_create, longest_transaction, autovacuum, used_ids } = state;
  const major = Math.floor(version / 10_000);
  const found = [fine('databaseAnswers', { version: `${major}.${version % 10_000}` })];
  if (major < 15) found.push(problem('databaseTooOld', { version: String(major) }));
  if (major > NEWEST_TESTED) found.push(advice('databaseUntested', { version: String(major) }));
  if (encoding !== 'UTF8') found.push(problem('databaseEncoding', { encoding }));
  if (standby) found.push(problem('databaseStandby'));
  if (may_create !== true) found.push(problem('databaseMayNotCreate'));
  if (off.length > 0) found.push(problem('databaseUnsafe', { settings: off }));
  if (longest_transaction > LONG_TRANSACTION_S)
    found.push(advice('longTransaction', { minutes: Math.round(longest_transaction / 60) }));
  if (!autovacuum) found.push(problem('autovacuumOff'));
  if (used_ids > MANY_IDS) found.push(problem('transactionIds', { percent: Math.round(used_ids * 100) }));
  return found;
}

async function checkNodes(db: Executor): Promise<Finding[]> {
  const nodes = (await areEventsDistributed(db)) ? await listAbsentNodes(db) : [];
  return nodes.length === 0 ? [] : [problem('databaseNodesAway', { nodes: [...nodes] })];
}

/** The settings of a server, and of its machine, that make commits wait under load. */
export function checkWrites(
  { wal_compression, buffers }: Pick<ServerState, 'wal_compression' | 'buffers'>,
  checkpoints: CheckpointState,
  dirtyExpiry: number | null,
): Finding[] {
  const found: Finding[] = [];
  if (buffers < MIN_BUFFERS) found.push(advice('fewBuffers', { megabytes: buffers }));
  if (dirtyExpiry !== null && dirtyExpiry >= LATE_WRITES)
    found.push(advice('pagesWrittenLate', { seconds: Math.round(dirtyExpiry / 100) }));
  if (['on', 'pglz'].includes(wal_compression)) found.push(advice('walCompression'));
  const { requested, timed, limit } = checkpoints;
  if (requested > MANY_CHECKPOINTS && requested > timed)
    found.push(advice('checkpointsBySize', { requested, all: requested + timed, limit }));
  return found;
}

async function checkConnections(db: Executor, config: Config): Promise<Finding> {
  const { needed, others, allowed } = await compareConnections(db, config);
  return (needed + others <= allowed ? fine : problem)('connections', { needed, others, allowed });
}

async function checkClock(db: Executor): Promise<Finding> {
  const before = machineTime();
  const there = await readDatabaseTime(db);
  const here = (before + machineTime()) / 2;
  const difference = Math.abs(here - there);
  return (difference <= SKEW_MS ? fine : problem)('clocks', { seconds: Math.round(difference / 100) / 10 });
}

async function checkSchema(db: Executor, { invalid_indexes }: ServerState): Promise<Finding[]> {
  const applied = await listAppliedMigrations(db);
  if (applied === null) return [advice('schemaEmpty')];
  const found: Finding[] = [];
  try {
    const due = dueOf(await readMigrations(migrationsFolder), applied);
    if (due.length > 0)
      found.push(advice('migrationsWait', { migrations: due.length, first: due[0]?.name ?? '' }));
  } catch (error) {
    found.push(problem('schemaForeign', { reason: (error as Error).message }));
  }
  if (invalid_indexes.length > 0) found.push(problem('invalidIndexes', { indexes: invalid_indexes }));
  return found.length > 0 ? found : [fine('schemaFine')];
}
