import type { HeartbeatInput, SensorStatus } from '@gantry/contract/sensors';
import { CRITICAL_ISSUE } from '@gantry/contract/values';
import type { Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import type { DeviceContext } from './sensor-keys.ts';
import type { SensorServices } from './start.ts';
import { publishStatus } from './status.ts';
import {
  recordHeartbeat,
  recordSteadyHeartbeat,
  type SelfReport,
  type StatusOutcome,
} from './status-store.ts';

type Issue = HeartbeatInput['issues'][number];

const REASON_MAX = 500;

/** The issues as one line of limited length: `CODE (message), CODE (message)`. */
export function nameIssues(issues: readonly Issue[]): string {
  const line = issues
    .map(({ code, message }) => (message.trim() === '' ? code : `${code} (${message.trim()})`))
    .join(', ');
  return line.length <= REASON_MAX ? line : `${line.slice(0, REASON_MAX - 1).toWellFormed()}…`;
}

/** An interval with which a sensor may miss two heartbeats in a row within the time-out. */
export function intervalFor(timeoutSeconds: number): number {
  return Math.max(1, Math.floor(timeoutSeconds / 3));
}

export interface HeartbeatAnswer {
  readonly success: true;
  readonly status: SensorStatus;
  readonly serverTime: Date;
  /** Seconds */
  readonly intervalSeconds: number;
}

/**
 * Processes a heartbeat with what the sensor reports about itself. Only critical issues affect its status.
 * @throws AppError `unauthorized` when the key has been replaced meanwhile
 */
export async function handleHeartbeat(
  { app, sensor }: DeviceContext<Core & SensorServices & Pick<RealtimeServices, 'outbox'>>,
  input: HeartbeatInput,
): Promise<HeartbeatAnswer> {
  const critical = input.issues.filter(({ severity }) => severity === 'critical');
  const isCritical = critical.length > 0;
  const outcome = await takeReport(app, {
    sensorId: sensor.id,
    apiKey: input.apiKey,
    signal: isCritical ? 'criticalIssue' : 'heartbeat',
    reason: isCritical ? `${CRITICAL_ISSUE}${nameIssues(critical)}` : 'heartbeat',
    firmware: input.firmware,
    ipAddress: input.ipAddress,
    macAddress: input.macAddress,
  });
  if (!outcome) throw new AppError('unauthorized', 'Invalid API key');
  if (outcome.from !== outcome.to) app.publicSensors.forget();
  if (input.issues.length > 0) {
    app.log.info({ sensorId: sensor.id, issues: nameIssues(input.issues) }, 'sensor reports issues');
  }
  const intervalSeconds = intervalFor(app.config.HEARTBEAT_TIMEOUT_SECONDS);
  return { success: true, status: outcome.to, serverTime: outcome.at, intervalSeconds };
}

/** Processes a heartbeat that arrived through a gateway, with the same effects as one with an API key. */
export async function handleGatewayHeartbeat(
  app: Core & Pick<SensorServices, 'publicSensors'> & Pick<RealtimeServices, 'outbox'>,
  sensorId: string,
): Promise<void> {
  const outcome = await takeReport(app, {
    sensorId,
    apiKey: null,
    signal: 'heartbeat',
    reason: 'heartbeat',
    firmware: null,
    ipAddress: null,
    macAddress: null,
  });
  if (outcome && outcome.from !== outcome.to) app.publicSensors.forget();
}

/**
 * Records a heartbeat, and publishes the change if it changes the status. Null when no sensor has the id and the key.
 */
async function takeReport(
  app: Core & Pick<RealtimeServices, 'outbox'>,
  report: SelfReport,
): Promise<StatusOutcome | null> {
  return (
    (await recordSteadyHeartbeat(app.devices, report)) ??
    inTransaction(app.devices, async (tx) => {
      const outcome = await recordHeartbeat(tx, report);
      if (outcome && outcome.from !== outcome.to) await publishStatus(app, tx, [outcome], report.reason);
      return outcome;
    })
  );
}
