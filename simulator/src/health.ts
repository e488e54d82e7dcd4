import { MINUTE_MS } from '@gantry/contract/durations';
import { createRandom, mix, type Random } from './random.ts';
import type { VirtualSensor } from './sensor.ts';

/** An issue that a sensor reports in its heartbeats. */
export interface Issue {
  readonly code: string;
  readonly message: string;
  readonly severity: 'warning' | 'critical';
}

const WARNINGS: readonly [Issue, ...Issue[]] = [
  { code: 'LENS_DIRTY', message: 'The image is blurred: clean the lens', severity: 'warning' },
  { code: 'TEMPERATURE_HIGH', message: 'The housing is hotter than 70 °C', severity: 'warning' },
  { code: 'STORAGE_LOW', message: 'Less than 10 % of the storage is free', severity: 'warning' },
  { code: 'CLOCK_DRIFT', message: 'The clock is more than a second off', severity: 'warning' },
];
const CRITICALS: readonly [Issue, ...Issue[]] = [
  { code: 'VIEW_BLOCKED', message: 'Something blocks the view', severity: 'critical' },
  { code: 'POWER_FAILURE', message: 'Running on battery', severity: 'critical' },
];

/** The duration of an issue in milliseconds. The probabilities apply to each such period of one sensor. */
const SPELL_MS = 10 * MINUTE_MS;
const WARNING_CHANCE = 0.015;
const CRITICAL_CHANCE = 0.002;

/** The issues of the sensor at a time (Unix milliseconds); usually none. */
export function issuesAt({ seed }: VirtualSensor, at: number): Issue[] {
  const random = createRandom(mix(seed, Math.floor(at / SPELL_MS), 0x15_50e5));
  if (random.chance(CRITICAL_CHANCE)) return [random.pick(CRITICALS)];
  return random.chance(WARNING_CHANCE) ? [random.pick(WARNINGS)] : [];
}

/** What the sensor reports about itself in every heartbeat. */
export function identityOf({ seed }: VirtualSensor) {
  const random = createRandom(mix(seed, 0x1d));
  return {
    firmware: `${random.whole(2, 4)}.${random.whole(0, 9)}.${random.whole(0, 20)}`,
    // A documentation network (RFC 5737), in which nothing answers.
    ipAddress: `198.51.100.${random.whole(1, 254)}`,
    macAddress: ['02', ...Array.from({ length: 5 }, () => hexByte(random))].join(':'),
  };
}

function hexByte(random: Random): string {
  return random.whole(0, 255).toString(16).padStart(2, '0');
}
