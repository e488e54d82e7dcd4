import { MINUTE_MS } from '@gantry/contract/durations';
import type { LiveTraffic } from '@gantry/contract/traffic';
import { LEVELS, type TrafficLevel } from '@gantry/contract/traffic';
import type { Parts } from './figures.ts';
import { readLive } from './live-store.ts';
import { meanOf } from './speeds.ts';

/** The traffic at every location in the last five minutes, the current minute included. */
export async function getLive({ db, clock }: Parts): Promise<LiveTraffic> {
  const until = Math.floor(clock.now() / MINUTE_MS + 1) * MINUTE_MS;
  const since = until - 5 * MINUTE_MS;
  const rows = await readLive(db, { from: since, until });
  return {
    since: new Date(since),
    locations: rows.map((row) => {
      const speed = meanOf(row.measured, row.speed_sum);
      const usualSpeed = row.speed_limit ?? meanOf(row.usual_measured, row.usual_sum);
      const isWatched = row.watched;
      return {
        locationId: row.id,
        locationName: row.name,
        volume: row.n > 0 || isWatched ? row.n : null,
        meanSpeed: speed,
        usualSpeed,
        speedLimit: row.speed_limit,
        level: levelOf({ volume: row.n, meanSpeed: speed, usualSpeed, isWatched }),
      };
    }),
  };
}

/** The figures of a location's last minutes; speeds in km/h. */
interface LiveFigures {
  readonly volume: number;
  readonly meanSpeed: number | null;
  readonly usualSpeed: number | null;
  /** Whether any of its sensors is ONLINE. */
  readonly isWatched: boolean;
}

/** The traffic level, by the table in the contract. */
function levelOf({ volume, meanSpeed, usualSpeed, isWatched }: LiveFigures): TrafficLevel {
  if (volume === 0) return isWatched ? 'FREE' : 'NO_DATA';
  if (meanSpeed === null || usualSpeed === null || usualSpeed === 0) return 'NO_DATA';
  return LEVELS.find(({ from }) => meanSpeed / usualSpeed >= from)?.level ?? 'CONGESTED';
}
