import type { Flow, FlowPoint, HourOfWeek, SpeedDistribution } from '@gantry/contract/traffic';
import { type SpeedUnits, speedIn } from '../../shared/status/speed.ts';

// The traffic of a place with its speeds in other units than those of the service's answers, which are in km/h.

const SPEEDS = ['meanSpeed', 'v15', 'v50', 'v85', 'v95'] as const;

function withSpeedsIn<Each extends Pick<FlowPoint, (typeof SPEEDS)[number]>>(
  each: Each,
  units: SpeedUnits,
): Each {
  return { ...each, ...Object.fromEntries(SPEEDS.map((name) => [name, inUnits(each[name], units)])) };
}

function inUnits(speed: number | null, units: SpeedUnits): number | null {
  return speed === null ? null : speedIn(speed, units);
}

/** The traffic of a place with speeds in some units. */
export function flowIn(flow: Flow, units: SpeedUnits): Flow {
  return {
    ...withSpeedsIn(flow, units),
    speedLimit: inUnits(flow.speedLimit, units),
    points: flow.points.map((point) => withSpeedsIn(point, units)),
    units,
  };
}

export function weekIn(week: HourOfWeek, units: SpeedUnits): HourOfWeek {
  return {
    ...week,
    days: week.days.map(({ hours, ...day }) => ({
      ...day,
      hours: hours.map((hour) => ({ ...hour, meanSpeed: inUnits(hour.meanSpeed, units) })),
    })),
  };
}

/** The width of the bins in which speeds are shown, in any units. */
const WIDTH = 5;

/** A distribution in bins of 1 km/h as one in bins of five units. In mph, a bin is where its middle is. */
export function distributionIn(speeds: SpeedDistribution, units: SpeedUnits): SpeedDistribution {
  const counts = new Map<number, number>();
  for (const { from, to, count } of speeds.bins) {
    const start = WIDTH * Math.floor(speedIn((from + to) / 2, units, 3) / WIDTH);
    counts.set(start, (counts.get(start) ?? 0) + count);
  }
  return {
    ...withSpeedsIn(speeds, units),
    speedLimit: inUnits(speeds.speedLimit, units),
    bins: [...counts].sort(([a], [b]) => a - b).map(([from, count]) => ({ from, to: from + WIDTH, count })),
  };
}
