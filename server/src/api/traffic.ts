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
import { getHourOfWeek } from '../traffic/hour-of-week.ts';
import { getLive } from '../traffic/live.ts';
import { getFlow } from '../traffic/service.ts';
import { getSpeedDistribution } from '../traffic/speed-distribution.ts';
import { getTopLocations } from '../traffic/top-locations.ts';
import { router, signedIn } from './procedures.ts';

export const trafficRouter = router({
  getFlow: signedIn
    .meta({
      question: true,
      summary: 'How many vehicles passed a sensor or a location, how quickly, interval by interval',
      notes:
        "Intervals are local to the service's time zone and counted from midnight: a day has 23 or 25 hours where the clocks change. At most 10,000 of them.",
    })
    .input(flowInput)
    .output(flow)
    .query(({ ctx: { app }, input }) => getFlow(app, input)),

  getSpeedDistribution: signedIn
    .meta({ question: true, summary: 'How many vehicles passed at which speed' })
    .input(speedDistributionInput)
    .output(speedDistribution)
    .query(({ ctx: { app }, input }) => getSpeedDistribution(app, input)),

  getHourOfWeek: signedIn
    .meta({ question: true, summary: 'What passes in each hour of the week, on average' })
    .input(hourOfWeekInput)
    .output(hourOfWeek)
    .query(({ ctx: { app }, input }) => getHourOfWeek(app, input)),

  getLive: signedIn
    .meta({
      question: true,
      summary: 'How every location is right now: free, busy, congested, or without data',
    })
    .output(liveTraffic)
    .query(({ ctx: { app } }) => getLive(app)),

  getTopLocations: signedIn
    .meta({
      question: true,
      summary: 'The locations with most traffic, the quickest, or the most above the limit',
    })
    .input(topLocationsInput)
    .output(topLocations)
    .query(({ ctx: { app }, input }) => getTopLocations(app, input)),
});
