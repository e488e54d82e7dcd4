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
import {
  getFlow,
  getHourOfWeek,
  getLive,
  getSpeedDistribution,
  getTopLocations,
} from '../traffic/service.ts';
import { router, signedIn } from './procedures.ts';

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
});
