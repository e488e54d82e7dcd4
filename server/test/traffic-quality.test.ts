import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import type { Bin } from '../src/traffic/bin.ts';
import {
  chatter,
  fewSamples,
  lockedOn,
  noChange,
  noHits,
  occupancySpikes,
  oddSamples,
  oddSpeeds,
  type Sample,
} from '../src/traffic/quality/detector-rules.ts';
import {
  changedMonth,
  differingCounts,
  type Flag,
  gapInHour,
  isPlausibleLength,
  littleKnownHours,
  oddClassShare,
  oddHours,
  overCapacity,
  THRESHOLDS,
  unevenDirections,
} from '../src/traffic/quality/rules.ts';
import { binAt, hoursFrom } from './bins.ts';

// Both sides of the threshold of each rule.

const START = Date.parse('2026-03-06T00:00:00Z');
const HALF_MINUTE = 30_000;
const DAY = { day: '2026-03-06', from: START, until: START + 24 * HOUR_MS };

/** Samples of 30 seconds. */
function samplesOf(parts: readonly Partial<Sample>[]): Sample[] {
  return parts.map((part, n) => ({
    start: START + n * HALF_MINUTE,
    end: START + (n + 1) * HALF_MINUTE,
    volume: 0,
    ...part,
  }));
}
const times = <Part>(count: number, part: Part): Part[] => Array.from({ length: count }, () => part);
const rulesOf = (flags: readonly Flag[]): string[] => flags.map(({ rule }) => rule);

describe('R1, no hits', () => {
  const silent = (samples: number, volume: number | null) =>
    samplesOf([{ volume: 1 }, ...times(samples, { volume }), { volume: 2 }]);
  const FOUR_HOURS = 480;

  it.each([0, null])(
    'is not four hours minus half a minute, but plus half a minute, of volume %s',
    (volume) => {
      for (const samples of [FOUR_HOURS - 1, FOUR_HOURS])
        expect(noHits({ samples: silent(samples, volume) }, 'MAINLINE')).toEqual([]);
      expect(noHits({ lane: 2, samples: silent(FOUR_HOURS + 1, volume) }, 'MAINLINE')).toEqual([
        {
          rule: 'R1',
          severity: 'REJECT',
          from: START + HALF_MINUTE,
          until: START + HALF_MINUTE + 4 * HOUR_MS + HALF_MINUTE,
          value: 4 + 1 / 120,
          threshold: 4,
          lane: 2,
        },
      ]);
    },
  );

  it.each([
    ['RAMP_OFF', 8],
    ['HOV', 8],
    ['RAMP_ON', 12],
    ['LEG', 24],
    ['BUS', 72],
  ] as const)('allows more on %s', (facility, hours) => {
    const samples = silent(hours * 120, 0);
    expect(noHits({ samples }, facility)).toEqual([]);
    expect(rulesOf(noHits({ samples: silent(hours * 120 + 1, 0) }, facility))).toEqual(['R1']);
  });

  it('lasts until the data end, and begins anew after each vehicle', () => {
    const samples = samplesOf([
      ...times(481, {}),
      { volume: 1 },
      ...times(480, {}),
      { volume: 1 },
      ...times(481, {}),
    ]);
    expect(noHits({ samples }, 'MAINLINE').map(({ from, until }) => (until - from) / HALF_MINUTE)).toEqual([
      481, 481,
    ]);
    expect(noHits({ samples: [] }, 'MAINLINE')).toEqual([]);
  });
});

describe('R2, a gap in an hour', () => {
  const hourWith = (minutes: number): Bin[] =>
    Array.from({ length: 12 }, (_, n) => {
      const start = START + n * 5 * MINUTE_MS;
      const covered = Math.min(5, Math.max(0, 5 * (n + 1) - 10 - minutes));
      const coverage = n < 2 ? 1 : covered / 5;
      return binAt(start, 5, { end: start + 5 * MINUTE_MS, coverage });
    });

  it.each([
    [1_500, 5],
    [1_499, 10],
    [500, 10],
    [499, 15],
    [100, 15],
    [99, 20],
    [0, 20],
  ])('may last, with usually %i vehicles, %i minutes', (usual, minutes) => {
    expect(gapInHour(hourWith(minutes), usual)).toEqual([]);
    expect(gapInHour(hourWith(minutes + 0.5), usual)).toEqual([
      {
        rule: 'R2',
        severity: 'REJECT',
        from: START,
        until: START + HOUR_MS,
        value: expect.closeTo(minutes + 0.5),
        threshold: minutes,
      },
    ]);
  });

  it('of ten minutes is not longer than that, although coverage is rounded', () => {
    const tenMinutes = hourWith(0).map((bin) => ({ ...bin, coverage: 0.8333 }));
    expect(gapInHour(tenMinutes, 500)).toEqual([]);
    expect(gapInHour(tenMinutes, 1_500)).toMatchObject([{ value: 10, threshold: 5 }]);
  });

  it('is judged only where the usual volume is known, by its longest part', () => {
    expect(gapInHour(hourWith(45), null)).toEqual([]);
    expect(gapInHour([], 100)).toEqual([]);
    const split = hourWith(50).map((bin, n) => (n === 5 ? { ...bin, coverage: 1 } : bin));
    expect(gapInHour(split, 0)[0]?.value).toBe(30);
    const running = hourWith(50).map((bin) => ({ ...bin, status: 'PROVISIONAL' as const }));
    expect(gapInHour(running, 1_500)).toEqual([]);
  });
});

describe('R3, chatter', () => {
  it('is 38 vehicles in 30 seconds, not 37, and lasts a day', () => {
    expect(chatter({ samples: samplesOf([{ volume: 37 }]) })).toEqual([]);
    expect(chatter({ lane: 'A', samples: samplesOf([{ volume: 38 }]) })).toEqual([
      {
        rule: 'R3',
        severity: 'REJECT',
        from: START,
        until: START + HALF_MINUTE + 24 * HOUR_MS,
        value: 38,
        threshold: 38,
        lane: 'A',
      },
    ]);
  });

  it('is judged by rate in longer samples, and is one flag if it comes again within a day', () => {
    const minute = (volume: number): Sample => ({ start: START, end: START + MINUTE_MS, volume });
    expect([chatter({ samples: [minute(75)] }), chatter({ samples: [minute(76)] })].map(rulesOf)).toEqual([
      [],
      ['R3'],
    ]);
    const samples = samplesOf([{ volume: 38 }, ...times(100, {}), { volume: 50 }]);
    expect(chatter({ samples })).toMatchObject([
      { from: START, until: START + 102 * HALF_MINUTE + 24 * HOUR_MS, value: 50 },
    ]);
  });
});

describe('R4, locked on', () => {
  it.each([
    ['MAINLINE', 4],
    ['RAMP_ON', 60],
  ] as const)('is on %s more than %i samples with 100 %%', (facility, count) => {
    const locked = (n: number) =>
      samplesOf([{ occupancy: 5 }, ...times(n, { occupancy: 100 }), { occupancy: 99 }]);
    expect(lockedOn({ samples: locked(count) }, facility)).toEqual([]);
    expect(lockedOn({ samples: locked(count + 1) }, facility)).toMatchObject([
      {
        rule: 'R4',
        severity: 'REJECT',
        from: START + HALF_MINUTE,
        value: (count + 1) / 2,
        threshold: count / 2,
      },
    ]);
  });

  it('needs samples that follow each other', () => {
    const samples = samplesOf(times(6, { occupancy: 100 })).filter((_, n) => n !== 3);
    expect(lockedOn({ samples }, 'MAINLINE')).toEqual([]);
  });
});

describe('R5, no change', () => {
  const same = (count: number, occupancy: number) =>
    samplesOf([{ occupancy: 3 }, ...times(count, { occupancy })]);

  it('is the same occupancy for more than 24 hours, but not none', () => {
    expect(noChange({ samples: same(2_880, 12) })).toEqual([]);
    expect(noChange({ samples: same(2_881, 12) })).toMatchObject([
      { rule: 'R5', severity: 'REJECT', from: START + HALF_MINUTE, threshold: 24 },
    ]);
    expect(noChange({ samples: same(2_881, 0) })).toEqual([]);
  });
});

describe('R6, spikes of occupancy', () => {
  const jumps = (...occupancies: number[]) => samplesOf(occupancies.map((occupancy) => ({ occupancy })));

  it('are more than 60 seconds of jumps, each full 25 % of which adds 30', () => {
    // 30 s for each full 25 %: 60 s, which one sample lowers to 30.
    expect(occupancySpikes({ samples: jumps(0, 50, 50) })).toEqual([]);
    expect(occupancySpikes({ samples: jumps(0, 74, 74) })).toEqual([]);
    expect(occupancySpikes({ samples: jumps(0, 75, 75) })).toMatchObject([
      {
        rule: 'R6',
        severity: 'SUSPECT',
        from: START + HALF_MINUTE,
        until: START + 2 * HALF_MINUTE,
        value: 90,
        threshold: 60,
      },
    ]);
    expect(occupancySpikes({ samples: jumps(0, 50, 0, 50, 50) })).toMatchObject([{ value: 120 }]);
  });

  it('are not between samples without occupancy', () => {
    expect(occupancySpikes({ samples: samplesOf([{ occupancy: 0 }, {}, { occupancy: 100 }]) })).toEqual([]);
  });
});

describe('R7, few samples', () => {
  const judged = (count: number): Sample[] =>
    samplesOf(times(2_880, { volume: 1 })).map((sample, n) =>
      n >= 600 && n < 600 + 2_040 - count ? { ...sample, volume: null } : sample,
    );

  it('are less than 60 % of those of the 17 hours from 05:00', () => {
    expect(fewSamples({ samples: judged(1_224) }, DAY, 'UTC', 30)).toEqual([]);
    expect(fewSamples({ samples: judged(1_223) }, DAY, 'UTC', 30)).toMatchObject([
      { rule: 'R7', severity: 'REJECT', from: DAY.from, until: DAY.until, threshold: 0.6 },
    ]);
  });
});

describe('R8 to R10, odd samples', () => {
  const share = (count: number, of: number, part: Partial<Sample>, other: Partial<Sample>) =>
    samplesOf([...times(count, part), ...times(of - count, other)]);
  const usual = { volume: 5, occupancy: 8 };

  it.each([
    ['URBAN', 59],
    ['RURAL', 90],
  ] as const)('R8 allows no occupancy in %s samples: %i of 100', (setting, count) => {
    const none = { volume: 0, occupancy: 0 };
    expect(oddSamples({ samples: share(count, 100, none, usual) }, DAY, setting)).toEqual([]);
    expect(oddSamples({ samples: share(count + 1, 100, none, usual) }, DAY, setting)).toMatchObject([
      { rule: 'R8', severity: 'REJECT' },
    ]);
    expect(
      oddSamples({ samples: times(100, none).flatMap((part) => samplesOf([part])) }, DAY, 'LOW_VOLUME'),
    ).toEqual([]);
  });

  it.each([
    [
      { volume: 21, occupancy: 8 },
      { volume: 20, occupancy: 8 },
    ],
    [
      { volume: 5, occupancy: 70.5 },
      { volume: 5, occupancy: 70 },
    ],
  ])('R9 allows high values in 20 of 100 samples: %j, but not %j', (high, highest) => {
    expect(oddSamples({ samples: share(20, 100, high, usual) }, DAY, 'URBAN')).toEqual([]);
    expect(oddSamples({ samples: share(21, 100, high, usual) }, DAY, 'URBAN')).toMatchObject([
      { rule: 'R9', severity: 'REJECT', value: 0.21 },
    ]);
    expect(
      oddSamples({ samples: times(100, highest).flatMap((part) => samplesOf([part])) }, DAY, 'URBAN'),
    ).toEqual([]);
  });

  it('R10 allows occupancy without vehicles in 2 of 100 samples, and the reverse in 50', () => {
    const [empty, ghosts] = [
      { volume: 0, occupancy: 8 },
      { volume: 5, occupancy: 0 },
    ];
    expect(oddSamples({ samples: share(2, 100, empty, usual) }, DAY, 'URBAN')).toEqual([]);
    expect(oddSamples({ samples: share(3, 100, empty, usual) }, DAY, 'URBAN')).toMatchObject([
      { rule: 'R10', severity: 'SUSPECT', threshold: 0.02 },
    ]);
    expect(oddSamples({ samples: share(50, 100, ghosts, usual) }, DAY, 'URBAN')).toEqual([]);
    expect(oddSamples({ samples: share(51, 100, ghosts, usual) }, DAY, 'URBAN')).toMatchObject([
      { rule: 'R10', threshold: 0.5 },
    ]);
    expect(oddSamples({ samples: [] }, DAY, 'URBAN')).toEqual([]);
  });
});

describe('R11, odd hours', () => {
  const hours = (volumes: readonly (number | null)[]) =>
    hoursFrom(START, volumes).map((bin, hour) => ({ ...bin, hour }));
  const day = (other: Record<number, number | null> = {}) =>
    hours(Array.from({ length: 24 }, (_, n) => (n in other ? (other[n] ?? null) : 100 + n)));

  it('are four equal volumes in a row, or eight without a vehicle', () => {
    expect(oddHours(DAY, day({ 5: 7, 6: 7, 7: 7 }))).toEqual([]);
    expect(oddHours(DAY, day({ 5: 7, 6: 7, 7: 7, 8: 7 }))).toEqual([
      {
        rule: 'R11',
        severity: 'SUSPECT',
        from: START + 5 * HOUR_MS,
        until: START + 9 * HOUR_MS,
        value: 4,
        threshold: 4,
      },
    ]);
    const zeros = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [2 + n, 0]));
    expect(oddHours(DAY, day(zeros(7)))).toEqual([]);
    expect(oddHours(DAY, day(zeros(8)))).toMatchObject([{ value: 8, threshold: 8 }]);
  });

  it('are more vehicles at 01:00 than at 13:00', () => {
    expect(oddHours(DAY, day({ 1: 113 }))).toEqual([]);
    expect(oddHours(DAY, day({ 1: 114 }))).toMatchObject([
      { from: DAY.from, until: DAY.until, value: 114, threshold: 113 },
    ]);
  });

  it('are hours that are missing', () => {
    expect(oddHours(DAY, day({ 20: null }))).toMatchObject([{ value: 23, threshold: 24 }]);
    expect(oddHours(DAY, day().slice(0, 22))).toMatchObject([{ value: 22 }]);
    const long = { from: START, until: START + 23 * HOUR_MS };
    expect(oddHours(long, day().slice(0, 23))).toEqual([]);
  });
});

describe('R12, R13 and R15, odd volumes', () => {
  it('R12 allows 3,000 vehicles in an hour on a lane', () => {
    const [hour] = hoursFrom(START, [6_000]);
    const quarter = binAt(START, 1_500);
    if (!hour) throw new Error('an hour');
    for (const bin of [hour, quarter]) {
      expect(overCapacity(bin, 2)).toEqual([]);
      expect(overCapacity({ ...bin, volume: (bin.volume ?? 0) + 1 }, 2)).toMatchObject([
        { rule: 'R12', severity: 'SUSPECT', threshold: 3_000 },
      ]);
    }
    expect(overCapacity(binAt(START, null), 2)).toEqual([]);
  });

  it('R12 allows a month to change by 30 %, and 60 % in one direction', () => {
    expect([1_300, 700].flatMap((average) => changedMonth(DAY, average, 1_000))).toEqual([]);
    expect([1_301, 699].flatMap((average) => changedMonth(DAY, average, 1_000))).toMatchObject([
      { rule: 'R12' },
      { value: 0.301 },
    ]);
    expect(changedMonth(DAY, 100, 0)).toEqual([]);
    expect([
      unevenDirections(DAY, 600, 400),
      unevenDirections(DAY, 400, 600),
      unevenDirections(DAY, 0, 0),
    ]).toEqual([[], [], []]);
    expect(unevenDirections(DAY, 399, 601)).toMatchObject([{ rule: 'R12', value: 0.601, threshold: 0.6 }]);
  });

  it('R13 allows two sensors to differ by 10 %', () => {
    expect([900, 1_100, 1_000].flatMap((other) => differingCounts(DAY, 1_000, other))).toEqual([]);
    expect([899, 1_101].flatMap((other) => differingCounts(DAY, 1_000, other))).toMatchObject([
      { rule: 'R13', severity: 'SUSPECT', value: 0.101, threshold: 0.1 },
      { value: 0.101 },
    ]);
    expect(differingCounts(DAY, 0, 0)).toEqual([]);
    expect(rulesOf(differingCounts(DAY, 0, 1))).toEqual(['R13']);
  });

  it('R15 allows the share of a class to be three deviations from its median', () => {
    const before = [0.1, 0.11, 0.09, 0.12, 0.08, 0.1, 0.1, 0.11, 0.09];
    expect([0.13, 0.07].flatMap((share) => oddClassShare(DAY, share, before))).toEqual([]);
    expect([0.131, 0.069].flatMap((share) => oddClassShare(DAY, share, before))).toMatchObject([
      { rule: 'R15', severity: 'INFO' },
      {},
    ]);
    expect(oddClassShare(DAY, 0.9, before.slice(0, 6))).toEqual([]);
    expect([0.49, 0.5, 40, 40.1].map((length) => isPlausibleLength(length))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('R14, odd speeds', () => {
  const speed = (meanSpeed: number, occupancy: number | null, limit: number | null = 50) =>
    oddSpeeds({ samples: samplesOf([{ meanSpeed, occupancy, limit }]) });

  it('are means above 1.5 times the limit, and below 5 km/h on an empty road', () => {
    expect([speed(75, 20), speed(5, 3), speed(4.9, 10), speed(4.9, null), speed(200, 20, null)]).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
    expect(speed(75.1, 20)).toMatchObject([{ rule: 'R14', severity: 'SUSPECT', value: 75.1, threshold: 75 }]);
    expect(speed(4.9, 9.9)).toMatchObject([{ rule: 'R14', value: 4.9, threshold: 5 }]);
    expect(oddSpeeds({ samples: samplesOf([{}]) })).toEqual([]);
  });
});

describe('R16, hours that are little known', () => {
  it('are those below 75 % that are over and are no gaps', () => {
    const hour = (coverage: number, status: Bin['status']) => ({ ...binAt(START, 5), coverage, status });
    const kept = [hour(0.75, 'PARTIAL'), hour(0.5, 'PROVISIONAL'), hour(0, 'GAP'), hour(1, 'VALID')];
    expect(littleKnownHours(kept)).toEqual([]);
    expect(littleKnownHours([hour(0.74, 'PARTIAL')])).toMatchObject([
      { rule: 'R16', severity: 'REJECT', value: 0.74, threshold: 0.75 },
    ]);
  });
});

describe('thresholds', () => {
  it('are values that a place may have of its own', () => {
    const strict = { ...THRESHOLDS, chatterVehicles: 10, clearHours: 1, sensorDifference: 0.01 };
    expect(chatter({ samples: samplesOf([{ volume: 10 }]) }, strict)).toMatchObject([
      { until: START + HALF_MINUTE + HOUR_MS, threshold: 10 },
    ]);
    expect(differingCounts(DAY, 1_000, 1_011, strict)).toMatchObject([{ threshold: 0.01 }]);
  });
});
