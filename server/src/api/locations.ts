import { exportedFleet, exportFleetInput, fleetFileInput, importedFleet } from '@gantry/contract/fleet';
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
import { exportLocations } from '../sensors/files/export.ts';
import { importLocations } from '../sensors/files/import.ts';
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

  import: allowed('manageSensors')
    .meta({
      summary: 'Add and change locations by a file',
      notes:
        'As `sensors.import`. Rows are recognised by `id`, or without one by `name`. Columns: `id`, `name`, `address`, `latitude`, `longitude`, `speedLimit` (km/h), `speedUnits`, `road`, `kilometre`, `direction`, `lanes`, `hasShoulder` (yes, no), `description`. A limit that changes holds from now on.',
      weight: 50,
    })
    .input(fleetFileInput)
    .output(importedFleet)
    .mutation(({ ctx, input }) => importLocations(ctx, input)),

  export: allowed('manageSensors')
    .meta({ question: true, summary: 'Get all locations as a file', notes: '`locations.import` reads it.' })
    .input(exportFleetInput)
    .output(exportedFleet)
    .query(({ ctx, input }) => exportLocations(ctx.app.db, input)),

  delete: allowed('manageSensors')
    .meta({ summary: 'Delete a location', notes: 'Refused while sensors are assigned to it.' })
    .input(byId)
    .output(deleteLocationOutput)
    .mutation(({ ctx, input }) => deleteLocation(ctx, input.id)),
});
