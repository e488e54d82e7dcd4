import type { Health, SystemSettings, TimezoneSettings, UpdateTimezoneInput } from '@gantry/contract/system';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { version } from '../platform/installation.ts';
import { featureFlags, featuresOnLicence } from './features.ts';
import { getInstalledAt, isDatabaseReachable, updateTimezoneSettings } from './store.ts';

/** The licence of this installation: all available features, without limits and without expiry. */
export async function getLicense({ db, config }: Core) {
  return {
    valid: true,
    type: 'enterprise',
    expiresAt: null,
    features: featuresOnLicence(config),
    maxUsers: -1,
    maxSensors: -1,
    organization: config.ORGANIZATION,
    issuedAt: await getInstalledAt(db),
  };
}

export function getSettings({ config }: Core): SystemSettings {
  return {
    appName: 'Gantry',
    appVersion: version,
    environment: config.NODE_ENV,
    features: featureFlags(config),
  };
}

const HEALTH_WAIT_MS = 3_000;

/** The health of this process, with the reason if nodes of the database cluster do not answer. */
export interface CheckedHealth {
  readonly health: Health;
  readonly reason: string | null;
}

/** The health of this process. Without its database, or a node of it, it is unhealthy, even if it responds. */
export async function getHealth(core: Core): Promise<Health> {
  return (await checkHealth(core)).health;
}

/** The same with the reason, for the probe /ready. */
export async function checkHealth(core: Core): Promise<CheckedHealth> {
  const { clock, readiness } = core;
  const { connected, reason } = await Promise.race([
    checkDatabase(core),
    new Promise<DatabaseState>((resolve) => setTimeout(resolve, HEALTH_WAIT_MS, AWAY).unref()),
  ]);
  const isDegraded = clock.isSkewed() || readiness.concerns.size > 0;
  const health: Health = {
    status: connected ? (isDegraded ? 'degraded' : 'healthy') : 'unhealthy',
    timestamp: new Date(clock.now()),
    version,
    database: connected ? 'connected' : 'disconnected',
  };
  return { health, reason };
}

interface DatabaseState {
  readonly connected: boolean;
  readonly reason: string | null;
}

const AWAY: DatabaseState = { connected: false, reason: null };

async function checkDatabase({ health: db, nodes }: Core): Promise<DatabaseState> {
  if (!(await isDatabaseReachable(db))) return AWAY;
  try {
    const absent = await nodes.listAbsent();
    if (absent.length === 0) return { connected: true, reason: null };
    return { connected: false, reason: `Nodes of the database do not answer: ${absent.join(', ')}` };
  } catch {
    return { connected: false, reason: 'Not all nodes of the database answer in time' };
  }
}

/** Changes the given settings, on every process. */
export async function changeTimezoneSettings(
  { app, actor, caller }: ActorContext,
  input: UpdateTimezoneInput,
): Promise<TimezoneSettings> {
  const changed = await inTransaction(app.db, async (tx) => {
    const settings = await updateTimezoneSettings(tx, input);
    await recordActivity(tx, actor.id, caller, 'system.updateTimezoneSettings', { ...input });
    await notify(tx, channels.settings, '');
    return settings;
  });
  await app.settings.refresh();
  return changed;
}
