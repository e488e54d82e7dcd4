import type { Health, SystemSettings, TimezoneSettings, UpdateTimezoneInput } from '@gantry/contract/system';
import { recordActivity } from '../activity/store.ts';
import { version } from '../installation.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction } from '../platform/database/transaction.ts';
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

/** The health of this process. Without its database it is unhealthy, even if it responds. */
export async function getHealth({ health: db, clock, readiness }: Core): Promise<Health> {
  const connected = await Promise.race([
    isDatabaseReachable(db),
    new Promise<false>((resolve) => setTimeout(resolve, HEALTH_WAIT_MS, false).unref()),
  ]);
  return {
    status: connected
      ? clock.isSkewed() || readiness.concerns.size > 0
        ? 'degraded'
        : 'healthy'
      : 'unhealthy',
    timestamp: new Date(clock.now()),
    version,
    database: connected ? 'connected' : 'disconnected',
  };
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
