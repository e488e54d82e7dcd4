import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import { HOUR_MS } from '@gantry/contract/durations';
import type { FastifyInstance } from 'fastify';
import { version } from '../platform/installation.ts';
import { answerFileFailures } from './file-failures.ts';

/** The first bytes of a file of this format: its name and version. */
const PMTILES_3 = Buffer.from('PMTiles\u0003', 'latin1');

/** Checks that the file with the tiles of the map can be served. @throws Error that says what is wrong with it */
export async function requireMapTiles(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const start = Buffer.alloc(PMTILES_3.length);
  try {
    const file = await open(path, 'r');
    try {
      await file.read(start, 0, start.length, 0);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new Error(`MAP_PMTILES ${path} cannot be read: set it to a .pmtiles file, or unset it`, { cause });
  }
  if (start.equals(PMTILES_3)) return;
  throw new Error(`MAP_PMTILES ${path} is not a PMTiles archive of version 3: set it to one, or unset it`);
}

/**
 * Serves the file with the tiles of the map, which the console reads in parts, and the facts that the console needs.
 */
export async function serveMapTiles(server: FastifyInstance, path: string | undefined): Promise<void> {
  const known = JSON.stringify({ mapTiles: path !== undefined, version });
  server.get('/console.json', (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(known),
  );
  if (path === undefined) return;
  await server.register(async (tiles) => {
    // A later version of the file has another ETag, so that readers detect the change.
    await tiles.register(fastifyStatic, { root: dirname(path), serve: false, maxAge: HOUR_MS });
    answerFileFailures(tiles);
    tiles.route({
      method: ['GET', 'HEAD'],
      url: '/map/area.pmtiles',
      handler: (_request, reply) => reply.sendFile(basename(path)),
    });
  });
}
