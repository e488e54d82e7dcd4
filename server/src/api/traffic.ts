import { tmgFile, tmgFileInput } from '@gantry/contract/count-files';
import {
  aadt,
  annualInput,
  compareStudiesInput,
  counts,
  countsInput,
  dailyVolumes,
  dailyVolumesInput,
  designHours,
  factors,
  networkAadt,
  networkAadtInput,
  peakHours,
  peakHoursInput,
  speedStudy,
  speedStudyInput,
  studyComparison,
} from '@gantry/contract/figures';
import { density, densityInput, headways, headwaysInput } from '@gantry/contract/headways';
import {
  dataQuality,
  dataQualityInput,
  dataReview,
  dataReviewsInput,
  dataReviewsPage,
  outagesInput,
  outagesPage,
  reviewDataInput,
} from '@gantry/contract/quality';
import {
  flow,
  flowInput,
  hourOfWeek,
  hourOfWeekInput,
  liveTraffic,
  speedDistribution,
  speedDistributionInput,
  topLocations,
  topLocationsInput,
} from '@gantry/contract/traffic';
import { turningMovements, turningMovementsInput } from '@gantry/contract/turning-movements';
import { getDensity } from '../traffic/density.ts';
import { getTmgFile } from '../traffic/files/tmg-export.ts';
import { getHeadways } from '../traffic/headways.ts';
import { getOutages } from '../traffic/outages.ts';
import { getDataQuality, listDataReviews, reviewData } from '../traffic/quality/service.ts';
import { getTopLocations } from '../traffic/ranking.ts';
import { getFlow, getHourOfWeek, getLive, getSpeedDistribution } from '../traffic/service.ts';
import { compareSpeeds, getSpeedStudy } from '../traffic/studies.ts';
import {
  getAadt,
  getCounts,
  getDailyVolumes,
  getDesignHours,
  getFactors,
  getPeakHours,
  getTurningMovements,
} from '../traffic/volumes.ts';
import { getNetworkAadt } from '../traffic/years.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

export const trafficRouter = router({
  getFlow: signedIn
    .meta({
      question: true,
      summary: 'Get the volume and speeds of vehicles at a sensor or location, by interval',
      notes:
        "Intervals are in the service's time zone and counted from midnight; a day has 23 or 25 hours when the clocks change, and where they change by half an hour, one is shorter. At most 10,000 intervals.",
    })
    .input(flowInput)
    .output(flow)
    .query(({ ctx: { app }, input }) => getFlow(app, input)),

  getSpeedDistribution: signedIn
    .meta({ question: true, summary: 'Get the distribution of speeds' })
    .input(speedDistributionInput)
    .output(speedDistribution)
    .query(({ ctx: { app }, input }) => getSpeedDistribution(app, input)),

  getHourOfWeek: signedIn
    .meta({ question: true, summary: 'Get the average traffic of each hour of the week' })
    .input(hourOfWeekInput)
    .output(hourOfWeek)
    .query(({ ctx: { app }, input }) => getHourOfWeek(app, input)),

  getLive: signedIn
    .meta({
      question: true,
      summary: 'Get the current state of every location: free, busy, congested, or without data',
    })
    .output(liveTraffic)
    .query(({ ctx: { app } }) => getLive(app)),

  getTopLocations: signedIn
    .meta({
      question: true,
      summary:
        'List the locations with the most traffic, the highest speeds, or the largest share above the limit',
    })
    .input(topLocationsInput)
    .output(topLocations)
    .query(({ ctx: { app }, input }) => getTopLocations(app, input)),

  getCounts: signedIn
    .meta({
      question: true,
      summary: 'Get the volume of a place by interval, direction, lane and class',
      notes: 'Counts the same vehicles as traffic.getFlow, in the same intervals. At most 10,000 intervals.',
    })
    .input(countsInput)
    .output(counts)
    .query(({ ctx: { app }, input }) => getCounts(app, input)),

  getPeakHours: signedIn
    .meta({
      question: true,
      summary: 'Get the peak hours of each day by window',
      notes:
        'A peak hour is four successive quarter hours that are VALID and wholly in the range, and begins on any of them; the first of several with the same volume. At most 104 days.',
    })
    .input(peakHoursInput)
    .output(peakHours)
    .query(({ ctx: { app }, input }) => getPeakHours(app, input)),

  getTurningMovements: signedIn
    .meta({
      question: true,
      summary: 'Get a turning movement count: legs, movements and classes, with peak hours',
      notes:
        'Movements are those that sensors report with a passage or a count: the leg from which vehicles come (a city may call it by the direction of travel: from N is southbound) and the turn. At most 104 days.',
    })
    .input(turningMovementsInput)
    .output(turningMovements)
    .query(({ ctx: { app }, input }) => getTurningMovements(app, input)),

  getDailyVolumes: signedIn
    .meta({ question: true, summary: 'Get the volume of each day, and the average of complete days' })
    .input(dailyVolumesInput)
    .output(dailyVolumes)
    .query(({ ctx: { app }, input }) => getDailyVolumes(app, input)),

  getAadt: signedIn
    .meta({ question: true, summary: 'Get the annual average daily traffic of a place' })
    .input(annualInput)
    .output(aadt)
    .query(({ ctx: { app }, input }) => getAadt(app, input)),

  getNetworkAadt: signedIn
    .meta({
      question: true,
      summary: 'List the annual average daily traffic of all locations',
      notes:
        'The same values as traffic.getAadt of each location. Years are stored some days after they are over, and again after a change that concerns them.',
    })
    .input(networkAadtInput)
    .output(networkAadt)
    .query(({ ctx: { app }, input }) => getNetworkAadt(app, input)),

  getFactors: signedIn
    .meta({ question: true, summary: 'Get the monthly and weekday factors of a place' })
    .input(annualInput)
    .output(factors)
    .query(({ ctx: { app }, input }) => getFactors(app, input)),

  getDesignHours: signedIn
    .meta({ question: true, summary: 'Get the busiest hours of a year, with K30, K50 and K100' })
    .input(annualInput)
    .output(designHours)
    .query(({ ctx: { app }, input }) => getDesignHours(app, input)),

  getSpeedStudy: signedIn
    .meta({
      question: true,
      summary: 'Get a speed study: percentiles, pace, shares over the limit and confidence',
      notes:
        'Speeds are those of traffic.getFlow. A limit counts for the time in which it held. `days` and `hours` are in the local time of the service.',
    })
    .input(speedStudyInput)
    .output(speedStudy)
    .query(({ ctx: { app }, input }) => getSpeedStudy(app, input)),

  compareStudies: signedIn
    .meta({ question: true, summary: 'Compare the speeds before and after a measure by statistical tests' })
    .input(compareStudiesInput)
    .output(studyComparison)
    .query(({ ctx: { app }, input }) => compareSpeeds(app, input)),

  getHeadways: signedIn
    .meta({
      question: true,
      summary: 'Get how closely vehicles follow each other, by lane',
      notes:
        'Of the motor vehicles in the volume of traffic.getFlow whose events are still stored. Sensors that send counts of intervals have no single vehicles. At most 500,000 vehicles.',
    })
    .input(headwaysInput)
    .output(headways)
    .query(({ ctx: { app }, input }) => getHeadways(app, input)),

  getDensity: signedIn
    .meta({
      question: true,
      summary: 'Get the density of traffic by interval and lane',
      notes:
        'Flow divided by the space mean speed; without speeds, from the occupancy. At most 10,000 intervals.',
    })
    .input(densityInput)
    .output(density)
    .query(({ ctx: { app }, input }) => getDensity(app, input)),

  getTmgFile: signedIn
    .meta({
      question: true,
      summary: 'Get a month of a place as records of the Traffic Monitoring Guide of the FHWA',
      notes:
        'Fields are separated by `|`, and a header names them. Hours of which less than 95 % is known are empty. Classes are the 13 of the FHWA if the sensors report these, and otherwise two: light and heavy. `counts.import` reads these files.',
    })
    .input(tmgFileInput)
    .output(tmgFile)
    .query(({ ctx: { app }, input }) => getTmgFile(app, input)),

  getDataQuality: signedIn
    .meta({
      question: true,
      summary: 'Get what rules found in the data of a place, and what is left of each day',
      notes:
        'Data that a rule REJECTs are in no figure of `traffic`: an interval of which nothing else is known is EXCLUDED, otherwise it is PARTIAL. A sensor is not trusted for 24 hours after R3 and R4. R2 and R16 reject the hour as a whole: it is in no mean of hours or days, but what was counted in it is still shown. `traffic.reviewData` overrules rules. At most 366 days.',
    })
    .input(dataQualityInput)
    .output(dataQuality)
    .query(({ ctx: { app }, input }) => getDataQuality(app, input)),

  getOutages: signedIn
    .meta({
      question: true,
      summary: 'List the times of which nothing is known, with the volume that was probably missed',
      notes:
        'An outage is not cut at midnight, nor at the ends of the range. Without a place, this lists the sensors that once counted and do not work now.',
    })
    .input(outagesInput)
    .output(outagesPage)
    .query(async ({ ctx: { app }, input }) => {
      const { timezone, ...page } = await getOutages(app, input);
      return { timezone, ...pageOf('outages', page, input.take) };
    }),

  reviewData: allowed('manageSensors')
    .meta({
      summary: 'Accept or reject the data of a place in a range',
      notes:
        'The latest decision about a time holds, and wins over rules. A decision about a sensor concerns what it counted, wherever it stood; one about a location concerns the figures of the location. Nothing is deleted.',
    })
    .input(reviewDataInput)
    .output(dataReview)
    .mutation(({ ctx, input }) => reviewData(ctx, input)),

  getDataReviews: signedIn
    .meta({ question: true, summary: 'List the decisions about data, the latest first' })
    .input(dataReviewsInput)
    .output(dataReviewsPage)
    .query(async ({ ctx: { app }, input }) =>
      pageOf('reviews', await listDataReviews(app, input), input.take),
    ),
});
