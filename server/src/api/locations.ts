import { byId } from '@gantry/contract/id';
import {
  createLocationInput,
  deleteLocationOutput,
  listLocationsInput,
  location,
  locationInFull,
  locationsPage,
  roadsOutput,
  updateLocationInput,
} from '@gantry/contract/locations';
import { createLocation, deleteLocation, updateLocation } from '../sensors/locations.ts';
import { getLocation, listLocations, listRoads } from '../sensors/locations-store.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

export const locationsRouter = router({
  getAll: signedIn
    .meta({ question: true, summary: 'List locations' })
    .input(listLocationsInput)
    .output(locationsPage)
    .query(async ({ ctx, input }) => pageOf('locations', await listLocations(ctx.app.db, input), input.take)),

  getRoads: signedIn
    .meta({ question: true, summary: 'List the roads of all locations' })
    .output(roadsOutput)
    .query(({ ctx }) => listRoads(ctx.app.db)),

  getById: signedIn
    .meta({ summary: 'Get one location' })
    .input(byId)
    .output(locationInFull)
    .query(({ ctx, input }) => getLocation(ctx.app.db, input.id)),

  create: allowed('manageSensors')
    .meta({ summary: 'Add a location' })
    .input(createLocationInput)
    .output(location)
    .mutation(({ ctx, input }) => createLocation(ctx, input)),

  update: allowed('manageSensors')
    .meta({
      summary: 'Change a location',
      notes:
        'Only the given fields change; `null` clears a field. Events keep the location name with which they were stored.',
    })
    .input(updateLocationInput)
    .output(location)
    .mutation(({ ctx, input }) => updateLocation(ctx, input)),

  delete: allowed('manageSensors')
    .meta({ summary: 'Delete a location', notes: 'Refused while sensors are assigned to it.' })
    .input(byId)
    .output(deleteLocationOutput)
    .mutation(({ ctx, input }) => deleteLocation(ctx, input.id)),
});
