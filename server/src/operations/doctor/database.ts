import { stat } from 'node:fs/promises';
import type { Finding } from '@gantry/contract/doctor';
import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { listEventMonths } from '../../events/partitions.ts';
import { readCheck } from '../../evidence/store.ts';
import { openImageFiles } from '../../images/blobs.ts';
import { readImageCondition } from '../../images/store.ts';
import { findFailingChannels } from '../../notices/channels-store.ts';
import type { Config } from '../../platform/config.ts';
import { dueOf, readMigrations } from '../../platform/database/migrate.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { listAbsentNodes } from '../../platform/database/nodes.ts';
import { isEmbedded } from '../../platform/database/open.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { compareConnections } from '../../platform/database/wait.ts';
import { safeText } from '../../platform/describe-error.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { machineTime } from '../../platform/machine-time.ts';
import { readSpoolState, spoolFolderOf } from '../../platform/spool-folder.ts';
import { oldAfter, scheduleOf } from '../backup/schedule.ts';
import { advice, fine, problem } from './findings.ts';
import {
  type CheckpointState,
  countToldRules,
  listAppliedMigrations,
  readAccountState,
  readBackupState,
  readCheckpointState,
  readDirtyExpiry,
  readGatewayState,
  readServerState,
  readWorkState,
  type ServerState,
  type WorkState,
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
  const nodes = await listAbsentNodes(db);
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

const RETENTION_DAYS = 3;

/** Work that waits or failed, partitions and sensors. The schema must be that of this version. */
export async function checkWork(db: Executor): Promise<Finding[]> {
  const state = await readWorkState(db);
  return [...checkJobs(state), ...(await checkPartitions(db)), ...checkSensors(state)];
}

function checkJobs(state: WorkState): Finding[] {
  const found: Finding[] = [];
  const say = (count: number, finding: Finding): void => {
    if (count > 0) found.push(finding);
  };
  const { late_follow_ups: events, failing_follow_ups: failed } = state;
  say(events, problem('lateFollowUps', { events, failed }));
  say(state.late_messages, problem('lateMessages', { messages: state.late_messages }));
  say(state.failed_messages, advice('failedMessages', { messages: state.failed_messages }));
  say(state.dead_deliveries, advice('deadDeliveries', { deliveries: state.dead_deliveries }));
  say(state.late_deliveries, advice('lateDeliveries', { deliveries: state.late_deliveries }));
  say(state.unsent_reports, advice('unsentReports', { reports: state.unsent_reports }));
  say(state.failed_reports, advice('failedReports', { reports: state.failed_reports }));
  const days = Math.floor(state.retention_age_days ?? 0);
  if (state.retention_error !== null)
    found.push(problem('retentionFailed', { reason: state.retention_error }));
  else if ((state.retention_age_days ?? 0) > RETENTION_DAYS) found.push(advice('retentionLate', { days }));
  return found.length > 0 ? found : [fine('workFine')];
}

async function checkPartitions(db: Executor): Promise<Finding[]> {
  const now = new Date(await readDatabaseTime(db));
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const months = await listEventMonths(db);
  if (months.length === 0 || months.some(({ from, until }) => next >= from && next < until)) return [];
  return [advice('nextPartition')];
}

function checkSensors(state: WorkState): Finding[] {
  const { sensors, silent, silent_names, never_seen } = state;
  const found: Finding[] = [];
  if (silent > 0) {
    found.push(advice('silentSensors', { silent, sensors, names: someOf(silent_names, silent) }));
  }
  if (never_seen > 0) found.push(advice('neverSeen', { unseen: never_seen, sensors }));
  const { wrong_clocks: wrong, unusable_times: unusable } = state;
  if (wrong > 0) {
    found.push(advice('wrongClocks', { wrong, sensors, names: someOf(state.wrong_clock_names, wrong) }));
  }
  if (unusable > 0) {
    const names = someOf(state.unusable_time_names, unusable);
    found.push(advice('unusableTimes', { unusable, sensors, names }));
  }
  return found.length > 0 ? found : [fine('sensorsFine', { sensors })];
}

/** The names, and an ellipsis if they are not all. */
function someOf(names: readonly string[], all: number): readonly string[] {
  return all > names.length ? [...names, '…'] : names;
}

const MAX_NAMES = 5;

/** Whether there are backups, how old the last one is, and whether it would be lost with the data. */
export async function checkBackups(db: Executor, config: Config): Promise<Finding[]> {
  const { age_hours: age, error: reason } = await readBackupState(db, config.BACKUP_DIR);
  const found: Finding[] = [];
  if (reason !== null) found.push(problem('backupFailed', { reason }));
  if (age === null) {
    // A new installation makes its first backup within a minute, if it makes any.
    const code = config.BACKUP_DIR === undefined ? 'noBackup' : 'noBackupYet';
    if (reason === null) found.push((config.NODE_ENV === 'production' ? problem : advice)(code));
  } else {
    const hours = Math.floor(age);
    const schedule = scheduleOf(config);
    if (age * HOUR_MS > oldAfter(schedule))
      found.push((schedule.kind === 'manual' ? advice : problem)('backupOld', { hours }));
    else if (reason === null) found.push(fine('backupFine', { hours }));
  }
  const folder = config.BACKUP_DIR;
  if (folder !== undefined && (await isOnSameDisk(folder, config.DATA_DIR))) {
    found.push(advice('backupSameDisk', { folder }));
  }
  return found;
}

/** Whether anybody is told of alarms, and which channels fail. */
export async function checkAlarms(db: Executor): Promise<Finding[]> {
  const rules = await countToldRules(db);
  const failing = await findFailingChannels(db);
  const names = someOf(
    failing.slice(0, MAX_NAMES).map(({ name }) => name),
    failing.length,
  );
  return [
    rules === 0 ? advice('nobodyTold') : fine('alarmsTold', { rules }),
    ...(failing.length > 0 ? [problem('failingChannels', { names })] : []),
  ];
}

async function isOnSameDisk(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => ignoreErrno(stat(path), 'ENOENT', 'EACCES', 'ENOTDIR')),
  );
  return a !== undefined && b !== undefined && a.dev === b.dev;
}

/** The share from which the space for messages on disk counts as full. */
const FULL_SHARE = 0.8;

/** From this age on, messages on disk are late: while the service and its database run, they leave the disk within seconds. */
const LATE_MINUTES = 2;

/** Messages of devices that wait on the disk of this machine. */
export async function checkSpool({ DATA_DIR, GATEWAY_SPOOL_MB: megabytes }: Config): Promise<Finding[]> {
  const folder = spoolFolderOf(DATA_DIR);
  const { messages, bytes, oldestAt, aside } = await readSpoolState(folder);
  const found: Finding[] = [];
  const share = megabytes === 0 ? 0 : bytes / (megabytes * 1_000_000);
  if (share >= FULL_SHARE) {
    found.push(problem('spoolFull', { percent: Math.min(100, Math.round(share * 100)), megabytes }));
  }
  const minutes = oldestAt === null ? 0 : Math.floor((machineTime() - oldestAt) / MINUTE_MS);
  if (minutes >= LATE_MINUTES) found.push(problem('spoolWaiting', { messages, minutes }));
  if (aside > 0) found.push(advice('spoolAside', { folder, files: aside }));
  return found;
}

/** Messages that were lost or refused. The schema must be that of this version. */
export async function checkConnectionsOfDevices(db: Executor): Promise<Finding[]> {
  const { lost, losing, limited } = await readGatewayState(db);
  const found: Finding[] = [];
  if (losing > 0) found.push(advice('lostMessages', { messages: lost, connections: losing }));
  if (limited > 0) found.push(advice('limitedMessages', { connections: limited }));
  return found.length > 0 ? found : [fine('gatewaysFine')];
}

const NO_IMAGE = '0'.repeat(64);

/** Whether the S3-compatible store of images answers. Images in the data folder are checked with that folder. */
export async function checkImageStore(config: Config): Promise<Finding[]> {
  if (config.S3_BUCKET === undefined) return [];
  await using files = await openImageFiles(config);
  try {
    await files.blobs.stat(NO_IMAGE);
    return [];
  } catch (error) {
    return [problem('pictureStore', { reason: safeText(error) })];
  }
}

/** Whether images are known to be damaged, by the last nightly verification or because somebody looked at them. */
export async function checkImages(db: Executor): Promise<Finding[]> {
  const { damaged, first, verified, hours } = await readImageCondition(db);
  return damaged > 0
    ? [problem('damagedImages', { images: damaged, first: first ?? '' })]
    : [fine('imagesFine', { images: verified, hours })];
}

/** What the last check of the seals found. */
export async function checkSealed(db: Executor, { SEAL }: Config): Promise<Finding[]> {
  if (SEAL === 'off') return [];
  const { faults, checked } = await readCheck(db);
  return [
    faults.length > 0
      ? problem('sealsBroken', { faults: faults.length, first: faults[0]?.seq ?? 0 })
      : fine('sealsFine', { seals: checked }),
  ];
}

/** API tokens that expire within so many days are named. */
const SOON_DAYS = 14;

/** Administrators, their second factors, and API tokens of programs. The schema must be that of this version. */
export async function checkAccounts(db: Executor, { NODE_ENV }: Config): Promise<Finding[]> {
  const { administrators, without, expiring } = await readAccountState(db, SOON_DAYS);
  const found = [administrators > 0 ? fine('accountsFine', { administrators }) : problem('noAdministrator')];
  if (without > 0 && NODE_ENV === 'production') {
    found.push(advice('withoutSecondFactor', { without, administrators }));
  }
  if (expiring.length > 0) found.push(advice('tokensExpire', { days: SOON_DAYS, names: expiring }));
  return found;
}
