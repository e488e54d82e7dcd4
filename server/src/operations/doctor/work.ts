import type { Finding } from '@gantry/contract/doctor';
import { listEventMonths } from '../../events/months-store.ts';
import { readDatabaseTime } from '../../platform/database/database-time.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { advice, fine, problem } from './findings.ts';
import { readWorkState, type WorkState } from './store.ts';

const RETENTION_DAYS = 3;

/** Work that waits or failed, partitions and sensors. The schema must be that of this version. */
export async function examineWork(db: Executor): Promise<Finding[]> {
  const state = await readWorkState(db);
  return [...examineJobs(state), ...(await examinePartitions(db)), ...examineSensors(state)];
}

function examineJobs(state: WorkState): Finding[] {
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
  say(state.failed_reports, advice('failedReports', { reports: state.failed_reports }));
  const days = Math.floor(state.retention_age_days ?? 0);
  if (state.retention_error !== null)
    found.push(problem('retentionFailed', { reason: state.retention_error }));
  else if ((state.retention_age_days ?? 0) > RETENTION_DAYS) found.push(advice('retentionLate', { days }));
  return found.length > 0 ? found : [fine('workFine')];
}

async function examinePartitions(db: Executor): Promise<Finding[]> {
  const now = new Date(await readDatabaseTime(db));
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const months = await listEventMonths(db);
  if (months.length === 0 || months.some(({ from, until }) => next >= from && next < until)) return [];
  return [advice('nextPartition')];
}

function examineSensors(state: WorkState): Finding[] {
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
