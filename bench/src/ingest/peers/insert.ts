import { ingestInput, severity } from '@gantry/contract/events';
import { initTRPC, TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import superjson from 'superjson';
import type { Sensor } from '../../sensors.ts';
import { announce } from './announce.ts';
import { events, newId } from './events-table.ts';

// The obvious first implementation: the stock adapter, drizzle, and one INSERT for each event. Unlike Gantry, it does not
// look up the API key in the database, and keeps no totals.

const { databaseUrl, sensors } = JSON.parse(process.argv[2] ?? '{}') as {
  databaseUrl: string;
  sensors: readonly Sensor[];
};
const db = drizzle(new pg.Pool({ connectionString: databaseUrl }));
const sensorOf = new Map(sensors.map((sensor) => [sensor.apiKey, sensor]));

const t = initTRPC.create({ transformer: superjson, isDev: false });

const router = t.router({
  events: t.router({
    ingest: t.procedure.input(ingestInput).mutation(async ({ input }) => {
      const sensor = sensorOf.get(input.apiKey);
      if (!sensor) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Invalid API key' });
      const id = newId();
      await db.insert(events).values({
        id,
        eventType: input.eventType,
        violationType: input.violationType,
        vehicleType: input.vehicleType,
        severity: input.severity && severity.options.indexOf(input.severity) + 1,
        sensorId: sensor.id,
        sensorName: sensor.name,
        locationId: sensor.locationId,
        locationName: input.location?.address,
        plate: input.licensePlateNumber,
        plateKey: input.licensePlateNumber?.toUpperCase().replace(/[\s-]/g, ''),
        vehicleSpeed: input.vehicleSpeed,
        description: input.description,
        location: input.location,
        metadata: input.metadata,
        tags: input.tags,
      });
      return { success: true, eventId: id };
    }),
  }),
});

announce(createHTTPServer({ router, basePath: '/trpc/' }));
