import { LEVELS, type TrafficLevel } from '@gantry/contract/traffic';

/** The figures of a location's last minutes; speeds in km/h. */
export interface LiveFigures {
  readonly volume: number;
  readonly meanSpeed: number | null;
  readonly usualSpeed: number | null;
  /** Whether any of its sensors is ONLINE. */
  readonly isWatched: boolean;
}

/** The traffic level, by the table in the contract. */
export function levelOf({ volume, meanSpeed, usualSpeed, isWatched }: LiveFigures): TrafficLevel {
  if (volume === 0) return isWatched ? 'FREE' : 'NO_DATA';
  if (meanSpeed === null || usualSpeed === null || usualSpeed === 0) return 'NO_DATA';
  return LEVELS.find(({ from }) => meanSpeed / usualSpeed >= from)?.level ?? 'CONGESTED';
}
