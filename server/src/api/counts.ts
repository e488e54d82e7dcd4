import { importCountsInput, importedCounts } from '@gantry/contract/count-files';
import { ingestCountsInput, ingestCountsOutput } from '@gantry/contract/counts';
import { classSchemesOutput } from '@gantry/contract/movements';
import { classSchemeNames, classSchemes } from '@gantry/contract/vehicle-classes';
import { importCounts } from '../traffic/files/import.ts';
import { storePeriods } from '../traffic/periods.ts';
import { allowed, device, router, signedIn } from './procedures.ts';

/** Number of periods that the rate limit takes for one event. */
const PERIODS_PER_EVENT = 10;

export const countsRouter = router({
  ingest: device
    .meta({
      summary: 'Report up to 1000 counts of intervals, for detectors that count',
      notes:
        'Each period is stored or refused individually; `results` has one entry per period, in the order in which they were sent. `volume: 0` says that the detector worked and saw nothing; null, or the status FAULT, is a gap. The same period with other content replaces the former one, which is kept. A sensor that ever sent a period counts its periods, and no longer its events. A period of up to an hour counts in every interval that contains it whole; of shorter intervals, nothing is known (COARSER_DATA). Longer periods are kept, and are in no figure yet.',
    })
    .input(ingestCountsInput)
    .output(ingestCountsOutput)
    .mutation(async ({ ctx: { app, sensor }, input }) => {
      app.eventRates.take(sensor, Math.ceil(input.periods.length / PERIODS_PER_EVENT));
      const results = await storePeriods(app, sensor, input.periods);
      return { success: results.every((result) => !('error' in result)), results };
    }),

  import: allowed('manageSensors')
    .meta({
      summary: 'Read the counts of a sensor from a file, such as a table of quarter hours',
      notes:
        'Columns are understood by their names: `date`, `time`, `start`, `end`; `direction`, `lane`, `leg`, `turn`, `movement`, `class` of a row; and counts of a part, such as `volume`, `NB`, `NB lane 2`, `Cars`, `Class 9`, `E_TRUCK_L` (trucks from the leg E that turn left) or `NBL` (northbound, left: from the leg S). Begin with `dryRun`, which says how the columns are understood, what would be stored and what is wrong, by line. Each period is then stored or refused as in `counts.ingest`: the same content again is a duplicate, other content replaces the former one, which is kept. At most 36,000 periods.',
      weight: 50,
    })
    .input(importCountsInput)
    .output(importedCounts)
    .mutation(({ ctx, input }) => importCounts(ctx, input)),
});

export const classSchemesRouter = router({
  get: signedIn
    .meta({ summary: 'Get the schemes of vehicle classes' })
    .output(classSchemesOutput)
    .query(() => ({
      schemes: classSchemeNames.map((scheme) => ({ scheme, classes: [...classSchemes[scheme]] })),
    })),
});
