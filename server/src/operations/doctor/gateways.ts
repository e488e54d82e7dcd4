import type { Finding } from '@gantry/contract/doctor';
import { MINUTE_MS } from '@gantry/contract/durations';
import type { Config } from '../../platform/config.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { machineTime } from '../../platform/machine-time.ts';
import { readSpoolState, spoolFolderOf } from '../../platform/spool-folder.ts';
import { advice, fine, problem } from './findings.ts';
import { readGatewayState } from './store.ts';

/** The share from which the space for messages on disk counts as full. */
const FULL_SHARE = 0.8;

/** From this age on, messages on disk are late: while the service and its database run, they leave the disk within seconds. */
const LATE_MINUTES = 2;

/** Messages of devices that wait on the disk of this machine. */
export async function examineSpool({ DATA_DIR, GATEWAY_SPOOL_MB: megabytes }: Config): Promise<Finding[]> {
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
export async function examineConnectionsOfDevices(db: Executor): Promise<Finding[]> {
  const { lost, losing, limited } = await readGatewayState(db);
  const found: Finding[] = [];
  if (losing > 0) found.push(advice('lostMessages', { messages: lost, connections: losing }));
  if (limited > 0) found.push(advice('limitedMessages', { connections: limited }));
  return found.length > 0 ? found : [fine('gatewaysFine')];
}
