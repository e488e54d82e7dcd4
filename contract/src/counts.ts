import { z } from 'zod';
import { classScheme, direction, lane, movement, noSuchClass } from './movements.ts';
import { apiKeyInput } from './sensors.ts';
import { timeInput } from './time.ts';
import { classOfScheme } from './vehicle-classes.ts';

// Counts of detectors that report intervals instead of single vehicles: loops, radars, and cameras that count.

const DAY_SECONDS = 86_400;
/** The shortest period, in seconds. */
export const MIN_PERIOD_SECONDS = 10;

/** Whether counts may have this length: at least 10 s, and a divisor of a day. */
export function isPeriodLength(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= MIN_PERIOD_SECONDS && DAY_SECONDS % seconds === 0;
}

const COUNT = 'Use a whole number of at least 0';
const count = z.number().int(COUNT).min(0, COUNT).max(1e9);

/** Counts of the values in [from, to); without `to`, of all from `from`. */
function bins(unit: string) {
  return z
    .array(
      z
        .strictObject({
          from: z.number().min(0).describe(`${unit}, inclusive.`),
          to: z.number().nullish().describe(`${unit}, exclusive. Without it, the bin has no upper end.`),
          count,
        })
        .refine(({ from, to }) => to === undefined || to === null || from < to, {
          path: ['to'],
          message: 'A bin must end above its start',
        })
        .transform(({ from, to, count }) => ({ from, ...(typeof to === 'number' && { to }), count })),
    )
    .min(1)
    .max(500);
}

const speeds = z
  .strictObject({
    mean: z.number().min(0).max(2000).describe('The arithmetic mean, km/h.'),
    measured: count.optional().describe('Number of vehicles whose speed was measured. Default: the volume.'),
    harmonicMean: z.number().min(0).max(2000).optional().describe('The space mean speed, km/h.'),
    bins: bins('km/h').optional(),
  })
  .refine(
    ({ measured, bins: each }) =>
      !each || measured === undefined || each.reduce((sum, bin) => sum + bin.count, 0) === measured,
    { path: ['bins'], message: 'The counts of the bins must add up to `measured`' },
  );

const byClass = z
  .strictObject({ scheme: classScheme, counts: z.record(z.string(), count) })
  .superRefine(({ scheme, counts }, { addIssue }) => {
    for (const code of Object.keys(counts)) {
      if (classOfScheme(scheme, code)) continue;
      addIssue({ code: 'custom', path: ['counts'], message: noSuchClass(scheme, code) });
      return;
    }
  });

const SECONDS = `Use a divisor of a day (86400) from ${MIN_PERIOD_SECONDS} to 86400, such as 60, 300, 900 or 3600`;

const periodFields = {
  start: timeInput.describe("Start, inclusive. A time without an offset is in the service's time zone."),
  seconds: z.number(SECONDS).refine(isPeriodLength, SECONDS).describe('The length, a divisor of a day.'),
  direction: direction.nullish().transform((value) => value ?? undefined),
  lane: lane.nullish().transform((value) => value ?? undefined),
  movement: movement.nullish().transform((value) => value ?? undefined),
  volume: count
    .nullish()
    .describe(
      'Motor vehicles. 0 says that the detector worked and saw none; null is a gap. May be left out with `byClass`, whose motor classes it is the sum of.',
    ),
  byClass: byClass.nullish().transform((value) => value ?? undefined),
  byLength: bins('m')
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('Vehicles by their length.'),
  speed: speeds.nullish().transform((value) => value ?? undefined),
  occupancy: z
    .number()
    .min(0)
    .max(100, 'Use percent, from 0 to 100')
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('The share of the time in which a vehicle was on the detector, in percent.'),
  meanHeadway: z
    .number()
    .min(0)
    .max(DAY_SECONDS)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('s.'),
  status: z
    .enum(['OK', 'PARTIAL', 'FAULT'])
    .nullish()
    .transform((value) => value ?? 'OK')
    .describe('FAULT is a gap, whatever else the period says.'),
  expectedSamples: z
    .int()
    .min(1)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('Number of samples of a whole period.'),
  samples: z
    .int()
    .min(0)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('Number of samples that the counts consist of.'),
};

/**
 * What a detector counted in an interval. Its key is (sensor, direction, lane, movement, start, seconds): another period with
 * the same key replaces it.
 */
export const countPeriod = z
  .strictObject(periodFields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no field ${issue.keys.join(', ')}: use ${Object.keys(periodFields).join(', ')}`
        : undefined,
  })
  .transform((period, { addIssue }) => {
    const sum = period.byClass === undefined ? undefined : motorVehiclesOf(period.byClass);
    const fail = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (period.volume === undefined && sum === undefined) {
      fail('volume', 'Send the number of vehicles, null if it is not known, or byClass');
    }
    if (typeof period.volume === 'number' && sum !== undefined && period.volume !== sum) {
      fail(
        'volume',
        `volume is ${period.volume}, but the motor vehicles of byClass are ${sum}: send ${sum}, or leave volume out`,
      );
    }
    const { samples, expectedSamples } = period;
    if (samples !== undefined && (expectedSamples === undefined || samples > expectedSamples)) {
      fail('samples', 'Send expectedSamples, which is at least as many as samples');
    }
    return { ...period, volume: period.volume ?? sum ?? null };
  });
export type CountPeriod = z.infer<typeof countPeriod>;

/** The motor vehicles of counts by class. */
export function motorVehiclesOf({ scheme, counts }: z.infer<typeof byClass>): number {
  return Object.entries(counts).reduce(
    (sum, [code, each]) => (classOfScheme(scheme, code)?.mode === 'MOTOR' ? sum + each : sum),
    0,
  );
}

/** The share of a period that its counts cover, from 0 to 1. */
export function coverageOf({
  volume,
  status,
  samples,
  expectedSamples,
}: Pick<CountPeriod, 'volume' | 'status' | 'samples' | 'expectedSamples'>): number {
  if (volume === null || status === 'FAULT') return 0;
  return samples === undefined || expectedSamples === undefined ? 1 : samples / expectedSamples;
}

/** The error of one period of a call. */
export interface PeriodError {
  readonly code: 'BAD_REQUEST';
  /** Which field, and what would be right. */
  readonly message: string;
}

/**
 * Reads one period of `counts.ingest` as it was sent. Whether it starts in the future, or overlaps a stored one of another
 * length, is for the server to say.
 */
export function readPeriod(
  given: unknown,
): { readonly period: CountPeriod } | { readonly error: PeriodError } {
  const parsed = countPeriod.safeParse(given);
  if (parsed.success) return { period: parsed.data };
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  return {
    error: {
      code: 'BAD_REQUEST',
      message: `${path === '' ? '' : `${path}: `}${issue?.message ?? 'Invalid'}`,
    },
  };
}

/** Maximum number of periods in one `counts.ingest`. */
export const MAX_PERIODS = 1000;

/** Periods are validated one by one with `readPeriod`, so that an invalid one does not affect the others. */
export const ingestCountsInput = z.object({
  apiKey: apiKeyInput,
  periods: z
    .array(z.unknown())
    .min(1, 'Send at least one period')
    .max(MAX_PERIODS, `Send at most ${MAX_PERIODS} periods`),
});

export const ingestedPeriod = z.union([
  z.object({
    duplicate: z.boolean().describe('Whether the same content was stored before.'),
    replaced: z.boolean().describe('Whether other content was stored before, which is kept as a revision.'),
  }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);
export type IngestedPeriod = z.infer<typeof ingestedPeriod>;

export const ingestCountsOutput = z.object({
  success: z.boolean().describe('Whether every period was stored.'),
  results: z.array(ingestedPeriod).describe('One entry per period, in the order in which they were sent.'),
});
