import type { Finding } from '@gantry/contract/doctor';
import { listEventMonths } from '../events/months-store.ts';
import { readDatabaseTime } from '../platform/database/database-time.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { advice, fine, problem } from './findings.ts';
import { readWorkState, type WorkState } from './store.ts';

const RETENTION_DAYS = 3;

/** Work that waits or failed, partitions, sensors and accounts. Its tables must be those of this version. */
export async function examineWork(db: Executor): Promise<Finding[]> {
  const state = await readWorkState(db);
  return [
    ...examineJobs(state),
    ...(await examinePartitions(db)),
    ...examineSensors(state),
    state.administrators > 0
      ? fine('accounts', `There are ${state.administrators} active administrators.`)
      : problem(
          'accounts',
          'There is no active administrator.',
          'Run gantry admin create, or gantry admin reset-password with --activate.',
        ),
  ];
}

function examineJobs(state: WorkState): Finding[] {
  const found: Finding[] = [];
  const say = (count: number, finding: Finding): void => {
    if (count > 0) found.push(finding);
  };
  const { late_follow_ups, failing_follow_ups, late_messages, failed_messages } = state;
  say(
    late_follow_ups,
    problem(
      'work',
      `The incidents, alerts and deliveries of ${late_follow_ups} events have been waiting for more than a minute, and ${failing_follow_ups} of them failed several times.`,
      'Start the service if it does not run; otherwise its log says why (events_to_follow_up).',
    ),
  );
  say(
    late_messages,
    problem(
      'work',
      `${late_messages} messages of devices have not been read for more than five minutes.`,
      'Start the service if it does not run; otherwise its log says why.',
    ),
  );
  say(
    failed_messages,
    advice(
      'work',
      `${failed_messages} messages of devices could not be processed.`,
      'Look at them with connections.getMessages, and use connections.replay when the cause is removed.',
    ),
  );
  say(
    state.dead_deliveries,
    advice(
      'work',
      `${state.dead_deliveries} deliveries of webhooks were given up.`,
      'Check the receivers, and send them again with webhooks.redeliver.',
    ),
  );
  say(
    state.late_deliveries,
    advice(
      'work',
      `${state.late_deliveries} deliveries of webhooks are more than ten minutes late.`,
      'Check that the service runs with webhooks in FEATURES.',
    ),
  );
  say(
    state.failed_reports,
    advice(
      'work',
      `${state.failed_reports} reports failed in the last week.`,
      'Their errors say why; order them again.',
    ),
  );
  if (state.retention_error !== null)
    found.push(
      problem(
        'work',
        `The last run of retention failed: ${state.retention_error}`,
        'Remove the cause, and call storage.runRetention.',
      ),
    );
  else if ((state.retention_age_days ?? 0) > RETENTION_DAYS)
    found.push(
      advice(
        'work',
        `Retention has not run for ${Math.floor(state.retention_age_days ?? 0)} days.`,
        'Let the service run at night.',
      ),
    );
  return found.length > 0 ? found : [fine('work', 'No work is late, and nothing has failed.')];
}

async function examinePartitions(db: Executor): Promise<Finding[]> {
  const now = new Date(await readDatabaseTime(db));
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const months = await listEventMonths(db);
  if (months.length === 0 || months.some(({ from, until }) => next >= from && next < until)) return [];
  return [
    advice(
      'schema',
      'The partition of events for the next month does not exist yet.',
      'Let the service run: it creates partitions ahead of time, and otherwise with the first event.',
    ),
  ];
}

function examineSensors({ sensors, silent, silent_names, never_seen }: WorkState): Finding[] {
  const found: Finding[] = [];
  if (silent > 0) {
    const names = silent_names.join(', ') + (silent > silent_names.length ? ', …' : '');
    found.push(
      advice(
        'sensors',
        `${silent} of ${sensors} sensors are silent: ${names}.`,
        'Check their power and network, and HEARTBEAT_TIMEOUT_SECONDS.',
      ),
    );
  }
  if (never_seen > 0)
    found.push(
      advice(
        'sensors',
        `${never_seen} of ${sensors} sensors have never reported.`,
        'Check the address and the API key in the devices, or delete the sensors.',
      ),
    );
  return found.length > 0 ? found : [fine('sensors', `None of ${sensors} sensors is silent.`)];
}
