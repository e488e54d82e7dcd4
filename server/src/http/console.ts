import { access, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import helmet from '@fastify/helmet';
import fastifyStatic from '@fastify/static';
import { hasErrno } from '@gantry/embedded-postgres/errno';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const YEAR_MS = 31_536_000_000;

/** A path within the folder, without dot files and without `..`. */
const PLAIN_PATH = /^(?:[^./\\\p{Cc}][^/\\\p{Cc}]*\/)*[^./\\\p{Cc}][^/\\\p{Cc}]*$/u;

const HTML = /\btext\/html\b/i;

/** What tools such as curl accept, or say nothing. They get the start page, but no page at an address that may be misspelt. */
const ANYTHING = /^$|\*\/\*|\btext\/\*/;

/** The start page while the console is being built, which loads itself again. */
const BEING_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="refresh" content="2" />
    <title>Gantry</title>
  </head>
  <body>
    <h1>The console is being built</h1>
    <p>This page shows it as soon as it is ready. The API is described at <a href="/docs">/docs</a>.</p>
  </body>
</html>
`;

/** The start page while the console has not been built. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Gantry</title>
  </head>
  <body>
    <h1>The console has not been built</h1>
    <p>Run <code>npm run build:console</code> in the folder of Gantry, then reload this page.</p>
    <p>The API is described at <a href="/docs">/docs</a>.</p>
  </body>
</html>
`;

/**
 * Serves the built console. Requests of browsers for a page at any address that no other route serves are answered
 * with its index.html; the console determines the page from the address.
 * @param folder the folder with the built files, which may be built while the service runs
 */
export async function serveConsole(server: FastifyInstance, folder: string, log: Logger): Promise<void> {
  const index = join(folder, 'index.html');
  const isBuilt = (): Promise<boolean> => access(index).then(...asBoolean);
  if (!(await isBuilt())) {
    if (await isBeingBuilt(folder)) log.info({ folder }, 'the console is being built');
    else log.warn({ folder }, 'the console has not been built: run npm run build:console');
  }

  await server.register(async (pages) => {
    await pages.register(helmet, {
      global: false,
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          scriptSrc: ["'self'"],
          // The map loads its worker from a blob: address.
          workerSrc: ["'self'", 'blob:'],
          // The map and the charts use inline styles.
          styleSrc: ["'self'", "'unsafe-inline'"],
          imgSrc: ["'self'", 'data:', 'blob:'],
          connectSrc: ["'self'"],
          fontSrc: ["'self'"],
          objectSrc: ["'none'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
          formAction: ["'self'"],
        },
      },
      referrerPolicy: { policy: 'same-origin' },
      xFrameOptions: { action: 'deny' },
      // The page must also work over plain HTTP.
      strictTransportSecurity: false,
    });
    await pages.register(fastifyStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      dotfiles: 'deny',
    });

    answerFileFailures(pages);

    const sendPage = async (reply: FastifyReply) => {
      await reply.helmet();
      reply.header('cache-control', 'no-cache');
      if (await isBuilt()) return sendCompressed(reply, 'index.html');
      if (await isBeingBuilt(folder))
        return reply.code(503).header('retry-after', '2').type('text/html; charset=utf-8').send(BEING_BUILT);
      return reply.type('text/html; charset=utf-8').send(NOT_BUILT);
    };
    const sendAsset = async (reply: FastifyReply, path: string) => {
      if (!PLAIN_PATH.test(path)) return reply.callNotFound();
      await reply.helmet();
      // The names of assets contain a hash of their content.
      if (path.startsWith('assets/')) {
        return sendCompressed(reply, path, { cacheControl: true, maxAge: YEAR_MS, immutable: true });
      }
      reply.header('cache-control', 'no-cache');
      return sendCompressed(reply, path);
    };
    const serve = (request: FastifyRequest<{ Params: { '*': string } }>, reply: FastifyReply) => {
      const path = request.params['*'];
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (path.startsWith('assets/') || name.includes('.')) return sendAsset(reply, path);
      const { accept = '' } = request.headers;
      const isAccepted = HTML.test(accept) || (path === '' && ANYTHING.test(accept));
      return isAccepted ? sendPage(reply) : reply.callNotFound();
    };
    pages.route({ method: ['GET', 'HEAD'], url: '/*', handler: serve });
  });
}

/** Whether a process of console/build.js is at work: it keeps its output in `<folder>.<process number>` until it is complete. */
async function isBeingBuilt(folder: string): Promise<boolean> {
  const names = await readdir(dirname(folder)).catch((): string[] => []);
  return names.some((name) => {
    const [, pid] = /^\.(\d+)$/.exec(name.slice(basename(folder).length)) ?? [];
    if (pid === undefined || !name.startsWith(basename(folder))) return false;
    try {
      return process.kill(Number(pid), 0);
    } catch (error) {
      return hasErrno(error, 'EPERM');
    }
  });
}

function sendCompressed(reply: FastifyReply, path: string, options = {}): FastifyReply {
  return reply.header('vary', 'Origin, Accept-Encoding').sendFile(path, options);
}

const asBoolean = [() => true, () => false] as const;

interface FileFailure extends Error {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with the refusals of the file server: the file has changed (412), or the range does not exist (416). */
export function answerFileFailures(server: FastifyInstance): void {
  server.setErrorHandler((error: FileFailure, _request, reply) => {
    if (error.statusCode !== 412 && error.statusCode !== 416) throw error;
    return reply
      .code(error.statusCode)
      .headers({ ...error.headers })
      .send();
  });
}
