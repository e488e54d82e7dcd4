import { readFile } from 'node:fs/promises';
import helmet from '@fastify/helmet';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance } from 'fastify';
import { documentsFolder } from '../../platform/installation.ts';
import { describeOpenApi } from './openapi.ts';

/** The files of Swagger UI that the page needs. */
const FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Gantry API</title>
    <link rel="stylesheet" href="/docs/files/swagger-ui.css" />
    <link rel="icon" href="/docs/files/favicon-32x32.png" />
  </head>
  <body>
    <div id="page"></div>
    <script src="/docs/files/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** Serves the API description and a page that shows it, without external resources. */
export async function serveDocuments(server: FastifyInstance, router: AnyTRPCRouter): Promise<void> {
  let openApi: string | undefined;
  server.get('/openapi.json', (_request, reply) => {
    // Built on the first request: it takes time, and few processes ever receive one.
    openApi ??= JSON.stringify(describeOpenApi(router));
    return reply.header('content-type', 'application/json; charset=utf-8').send(openApi);
  });

  await server.register(async (pages) => {
    await pages.register(helmet, {
      contentSecurityPolicy: {
        directives: {
          defaultSrc: ["'self'"],
          // Swagger UI uses inline styles, and icons in data: URLs.
          styleSrc: ["'self'", "'unsafe-inline'"],
          imgSrc: ["'self'", 'data:'],
          // The page must also work over plain HTTP.
          upgradeInsecureRequests: null,
        },
      },
      strictTransportSecurity: false,
    });
    for (const [name, type] of Object.entries(FILES)) {
      const file = await readFile(new URL(name, documentsFolder));
      pages.get(`/docs/files/${name}`, (_request, reply) => reply.type(type).send(file));
    }
    for (const path of ['/docs', '/docs/']) {
      pages.get(path, (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
    }
    pages.get('/docs/start.js', (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(START),
    );
  });
}
