import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import { HOUR_MS } from '@gantry/contract/durations';
import { MAX_ATTRIBUTION } from '@gantry/contract/map-values';
import { permissionNames } from '@gantry/contract/permissions';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callerAs, requirePermission, signIn } from '../accounts/session.ts';
import type { AuthServices } from '../accounts/start.ts';
import { receiveRoads } from '../map/service.ts';
import type { MapServices } from '../map/start.ts';
import type { Core } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import { version } from '../platform/installation.ts';
import type { CallerOf } from '../rpc/exchange.ts';
import { unhurriedly } from './connections.ts';
import { answerFileFailures } from './console.ts';

/** The first bytes of a file of this format: its name and version. */
const PMTILES_3 = Buffer.from('PMTiles\u0003', 'latin1');
/** Where its header has the positions of its four parts, each with offset and length as 64 bits. */
const PMTILES_PARTS = [8, 24, 40, 56];
const PMTILES_HEADER_BYTES = 127;

/** Checks that the file with the tiles of the map can be served. @throws Error that says what is wrong with it */
export async function requireMapTiles(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const header = Buffer.alloc(PMTILES_HEADER_BYTES);
  let size = 0;
  try {
    await using file = await open(path, 'r');
    await file.read(header, 0, header.length, 0);
    size = (await file.stat()).size;
  } catch (cause) {
    throw new Error(`MAP_PMTILES ${path} cannot be read: set it to a .pmtiles file, or unset it`, { cause });
  }
  if (!header.subarray(0, PMTILES_3.length).equals(PMTILES_3))
    throw new Error(`MAP_PMTILES ${path} is not a PMTiles archive of version 3: set it to one, or unset it`);
  const ends = PMTILES_PARTS.map((at) => Number(header.readBigUInt64LE(at) + header.readBigUInt64LE(at + 8)));
  const length = Math.max(header.length, ...ends);
  if (size < length)
    throw new Error(`MAP_PMTILES ${path} is incomplete: it has ${size} of ${length} bytes. Copy it again`);
}

/**
 * Serves the files with the tiles of the map, which the console reads in parts: the base map of MAP_PMTILES, and the roads that were
 * imported. Says to the console which of them there are.
 */
export async function serveMapTiles(
  server: FastifyInstance,
  { config, roadsFolder }: Core & MapServices,
): Promise<void> {
  const { MAP_PMTILES: baseMap } = config;
  server.get('/console.json', async (_request, reply) => {
    const current = baseMap === undefined ? await roadsFolder.current() : null;
    const roads = current && { version: current.version, attribution: current.attribution };
    return reply
      .header('cache-control', 'no-cache')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ mapTiles: baseMap !== undefined, roads, version }));
  });
  await server.register(async (tiles) => {
    // A later version of a file has another ETag, so that readers detect the change.
    await tiles.register(fastifyStatic, { root: config.DATA_DIR, serve: false, maxAge: HOUR_MS });
    answerFileFailures(tiles);
    const send = (path: string) => (_request: unknown, reply: FastifyReply) =>
      reply.sendFile(basename(path), dirname(path));
    const routes = [
      ...(baseMap === undefined ? [] : [['/map/area.pmtiles', baseMap] as const]),
      ['/map/roads.pmtiles', roadsFolder.roads] as const,
    ];
    for (const [url, path] of routes) tiles.route({ method: ['GET', 'HEAD'], url, handler: send(path) });
  });
}

/** Maximum length of the name of a file. */
const MAX_NAME = 200;

/**
 * Receives a file with roads: `PUT /map/file?name=…&attribution=…`, with the file as the body. It is stored as it arrives, so that its
 * size is not limited by the memory for bodies, and may take as long as bytes arrive.
 */
export function serveMapUploads(
  server: FastifyInstance,
  app: Core & AuthServices & MapServices,
  callerOf: CallerOf,
): void {
  server.put<{ Querystring: { name?: unknown; attribution?: unknown } }>(
    '/map/file',
    async (request, reply) => {
      const caller = callerOf(request.raw, request.id);
      const actor = await signIn({ app, caller });
      requirePermission(actor, 'systemSettings', permissionNames.systemSettings);
      const ctx = { app, actor, caller: callerAs(caller, actor) };
      const attribution = textOf(request.query.attribution);
      if (attribution !== null && attribution.length > MAX_ATTRIBUTION)
        throw new AppError('badRequest', `The attribution may have at most ${MAX_ATTRIBUTION} characters`);
      const facts = { fileName: textOf(request.query.name)?.slice(0, MAX_NAME) ?? null, attribution };
      const received = await unhurriedly(request.raw.socket, () => receiveRoads(ctx, request.raw, facts));
      return reply.code(201).send(received);
    },
  );
}

function textOf(given: unknown): string | null {
  const text =
    typeof given === 'string'
      ? given
          .toWellFormed()
          .replaceAll(/\p{Cc}/gu, '')
          .trim()
      : '';
  return text === '' ? null : text;
}
