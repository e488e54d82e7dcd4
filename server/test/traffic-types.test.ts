import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoizedCaseFold, sumsBySpelling } from '../src/platform/case-fold.ts';
import { type Bucket, describeBucket } from '../src/traffic/flow.ts';

const bucketWith = (counts: readonly (readonly [type: string, volume: number])[]): Bucket => ({
  speeds: { volume: 1, measured: 0, speedSum: 0, histogram: { bins: [], counts: [] } },
  judged: { measured: 0, over: 0 },
  byType: { types: counts.map(([type]) => type), volumes: counts.map(([, volume]) => volume) },
});

it('the types of an interval are listed by the sums of their spellings', () => {
  const aType = fc.constantFrom('', 'CAR', 'Car', 'car', 'TRUCK', 'truck', 'BUS', 'TAXİ', 'taxı', 'Σ', 'ς');
  const counts = fc.uniqueArray(fc.tuple(aType, fc.integer({ min: 0, max: 3 })), {
    selector: ([type]) => type,
  });
  const caseFoldName = memoizedCaseFold();
  fc.assert(
    fc.property(counts, (some) => {
      const expected = sumsBySpelling(some)
        .filter(([, volume]) => volume > 0)
        .map(([type, volume]) => ({ vehicleType: type || null, volume }));
      expect(
        describeBucket(
          bucketWith(some),
          { completeness: 1, coverage: 1, isOver: true, isRejected: false },
          caseFoldName,
        ).byVehicleType,
      ).toEqual(expected);
    }),
  );
});
