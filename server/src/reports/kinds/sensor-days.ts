import type { SensorStatus } from '@gantry/contract/sensors';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import type { ReportScope } from '../document.ts';
import { listStatusChanges, listStatusesBefore, type SensorBefore } from './daily-summary-store.ts';
import { availability, lengthsOf, type StatusChange, statusPeriodsOf } from './status-periods.ts';

interface SensorSoFar extends Omit<SensorBefore, 'id' | 'status'> {
  status: SensorStatus;
}

/**
 * Computes the status periods of all sensors, each until it was deleted, for consecutive intervals from the start of the
 * scope. It keeps the current status of each, so that the history is read once.
 */
export async function createSensorDays(db: Executor, { interval, now }: ReportScope) {
  const sensors = new Map<string, SensorSoFar>(
    (await listStatusesBefore(db, interval.from)).map(({ id, ...sensor }) => [id, sensor]),
  );

  return async (day: Interval): Promise<{ count: number; availability: number | null }> => {
    const until = Math.min(day.until, now);
    const changes = new Map<string, StatusChange[]>();
    for (const { sensorId, ...change } of await listStatusChanges(db, { from: day.from, until: day.until })) {
      const ofSensor = changes.get(sensorId) ?? [];
      changes.set(sensorId, ofSensor);
      ofSensor.push(change);
    }
    let count = 0;
    const all = { ONLINE: 0, OFFLINE: 0, ERROR: 0, MAINTENANCE: 0 };
    for (const [id, sensor] of sensors) {
      const own = changes.get(id) ?? [];
      const watched = { ...sensor, before: sensor.status, changes: own };
      const deletedAt = sensor.deletedAt ?? Number.POSITIVE_INFINITY;
      const known = { from: day.from, until: Math.min(until, deletedAt) };
      const lengths = lengthsOf(statusPeriodsOf(watched, known));
      for (const status of Object.keys(all) as SensorStatus[]) all[status] += lengths[status];
      if (sensor.createdAt < until && deletedAt > day.from) count++;
      sensor.status = own.at(-1)?.to ?? sensor.status;
    }
    return { count, availability: availability(all) };
  };
}
