import { byId } from '@gantry/contract/id';
import { mapState } from '@gantry/contract/map';
import { applyRoads, discardRoads, getMap, removeRoads } from '../map/service.ts';
import { allowed, router } from './procedures.ts';

export const mapRouter = router({
  get: allowed('systemSettings')
    .meta({
      summary: 'Show the roads on the map, and the file with roads that was received last',
      notes:
        'A file is sent with `PUT /map/file?name=…&attribution=…`: GeoJSON, also with a feature on each line, a GeoPackage, or a ZIP archive with a shapefile. It is read in the background; `staged` says how far it is, and what it contains. The roads are those of the machine that answers.',
    })
    .output(mapState)
    .query(({ ctx }) => getMap(ctx)),

  applyFile: allowed('systemSettings')
    .meta({ summary: 'Put the roads of the file that was received on the map, in place of others' })
    .input(byId)
    .output(mapState)
    .mutation(({ ctx, input }) => applyRoads(ctx, input.id)),

  discardFile: allowed('systemSettings')
    .meta({ summary: 'Discard the file with roads that was received, also while it is read' })
    .input(byId)
    .output(mapState)
    .mutation(({ ctx, input }) => discardRoads(ctx, input.id)),

  remove: allowed('systemSettings')
    .meta({ summary: 'Take the roads off the map' })
    .output(mapState)
    .mutation(({ ctx }) => removeRoads(ctx)),
});
