import type { JsonSchema } from './procedures.ts';

const ERRORS = {
  '4XX': { $ref: '#/components/responses/Error' },
  '5XX': { $ref: '#/components/responses/Error' },
};

const BINARY = { schema: { type: 'string', format: 'binary' } };

function probe(operationId: string, summary: string, description: string, type = 'application/json') {
  return {
    get: {
      operationId,
      tags: ['operation'],
      summary,
      description,
      security: [],
      responses: {
        200: {
          description: 'The answer',
          content: { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } },
        },
        ...ERRORS,
      },
    },
  };
}

function pathParameter(name: string, description: string, pattern: string): JsonSchema {
  return { name, in: 'path', required: true, description, schema: { type: 'string', pattern } };
}

/** What the service serves besides its procedures, as paths of OpenAPI. */
export const otherPaths: JsonSchema = {
  '/images/{sha256}': {
    get: {
      operationId: 'image',
      tags: ['operation'],
      summary: 'Get an image of an event or a note',
      description:
        'Needs a token. `images` of events contain the addresses. Each view is recorded. Ranges of bytes and `If-None-Match` are supported.',
      security: [{ bearer: [] }],
      parameters: [pathParameter('sha256', 'The SHA-256 of the image, in hexadecimal.', '^[0-9a-f]{64}$')],
      responses: {
        200: {
          description: 'The image',
          content: { 'image/jpeg': BINARY, 'image/png': BINARY, 'image/webp': BINARY },
        },
        206: { description: 'A part of the image', content: { 'image/*': BINARY } },
        304: { description: 'The image has not changed' },
        ...ERRORS,
      },
    },
  },
  '/reports/{id}/file': {
    get: {
      operationId: 'reportFile',
      tags: ['operation'],
      summary: 'Get the file of a report',
      description: 'Needs a token with the permission View Reports. The report must be DONE.',
      security: [{ bearer: [] }],
      parameters: [pathParameter('id', 'The id of the report.', '^[0-9a-f-]{36}$')],
      responses: {
        200: {
          description: 'The file',
          content: {
            'text/csv': BINARY,
            'application/pdf': BINARY,
            'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': BINARY,
          },
        },
        ...ERRORS,
      },
    },
  },
  '/live': probe('live', 'Whether the process is alive', 'Public.'),
  '/ready': probe(
    'ready',
    'Whether the process can answer',
    'Public. 503 while the database is away or the process is stopping. `reason` names nodes of a database cluster that do not answer.',
  ),
  '/metrics': probe('metrics', 'Get the metrics for Prometheus', 'Public.', 'text/plain'),
};
