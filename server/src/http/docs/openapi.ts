import { errorBody } from '@gantry/contract/envelope';
import { errorCodes } from '@gantry/contract/errors';
import { permissionNames } from '@gantry/contract/permissions';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { version } from '../../platform/installation.ts';
import { otherPaths, PROBLEM, restPaths } from './paths.ts';
import {
  type Components,
  createComponents,
  describeProcedures,
  errorsAs,
  type JsonSchema,
  type ProcedureDocument,
} from './procedures.ts';

const META: JsonSchema = {
  type: 'object',
  description:
    'How superjson marks values that JSON has no type for, such as {"values": {"createdAt": ["Date"]}}.',
};

const { $schema: _, ...errorSchema } = z.toJSONSchema(errorBody);

const DESCRIPTION = `Traffic management: roadside sensors and the events and violations they report.

The API has two forms with the same rules. Under \`/v1\` it is plain JSON over HTTP, with errors as \`application/problem+json\`
(RFC 9457). Under \`/trpc\` queries are GET with the input as URL-encoded JSON in \`input\`, and mutations are POST with a JSON
body; both wrap the input as \`{"json": …}\` (superjson).

Speeds are in km/h, coordinates in degrees (WGS 84), and times are ISO 8601 in UTC.`;

/** The API as an OpenAPI 3.1 document, from the schemas that validate it. */
export function describeOpenApi(router: AnyTRPCRouter): JsonSchema {
  const components = createComponents();
  return withoutDefaults(describeApi(router, components));
}

/**
 * Moves the defaults of the properties of objects to their descriptions. Generators of clients, such as openapi-typescript,
 * take a property with a default for one that is always there, and would require it in requests.
 */
function withoutDefaults<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    const { properties } = value as JsonSchema;
    if (typeof properties === 'object' && properties !== null) {
      for (const field of Object.values(properties as Record<string, JsonSchema>)) {
        if (typeof field !== 'object' || !Object.hasOwn(field, 'default')) continue;
        const said = `Default: ${JSON.stringify(field.default)}.`;
        field.description = field.description === undefined ? said : `${field.description} ${said}`;
        delete field.default;
      }
    }
  }
  for (const each of Object.values(value)) withoutDefaults(each);
  return value;
}

function describeApi(router: AnyTRPCRouter, components: Components): JsonSchema {
  const documents = describeProcedures(router, components.convert);
  const nouns = [...new Set(documents.map(({ path }) => nounOf(path)))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gantry',
      version,
      description: DESCRIPTION,
      contact: { name: 'The operator of this installation' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [
      ...nouns.map((name) => ({ name, description: `Procedures of the noun ${name}` })),
      { name: 'operation', description: 'Probes, metrics and files' },
    ],
    paths: {
      ...restPaths(router, documents),
      ...Object.fromEntries(
        documents.map((document) => [
          `/trpc/${document.path}`,
          { [document.type === 'mutation' ? 'post' : 'get']: operationOf(document) },
        ]),
      ),
      ...otherPaths,
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token of auth.login, or an API token.',
        },
        deviceKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The API key of a sensor: 64 hexadecimal digits.',
        },
        deviceBearer: { type: 'http', scheme: 'bearer', description: 'The API key of a sensor.' },
      },
      responses: {
        Error: {
          description: `An error; its data.code is one of ${Object.keys(errorCodes).join(', ')}`,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  error: { type: 'object', properties: { json: errorSchema }, required: ['json'] },
                },
                required: ['error'],
              },
            },
          },
        },
        Problem: {
          description: 'An error as in RFC 9457',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      schemas: { Problem: PROBLEM, ...components.schemas },
    },
  };
}

function nounOf(path: string): string {
  return path.split('.')[0] ?? '';
}

function envelope(json: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { json, meta: META },
    required: ['json'],
  };
}

function accessText({ meta }: ProcedureDocument): string {
  if (meta.access === 'device') return 'Called by a sensor with its API key in the input.';
  if (meta.access !== 'signedIn') return 'Public.';
  const token = meta.needsLogin ? 'the token of a login, not an API token' : 'a token';
  if (!meta.permission) return `Needs ${token}.`;
  return `Needs ${token}${meta.needsLogin ? ',' : ''} with the permission ${permissionNames[meta.permission]}.`;
}

function answerContent({ type, output }: ProcedureDocument): JsonSchema {
  return type === 'subscription'
    ? {
        'text/event-stream': {
          schema: {
            type: 'string',
            description: 'Server-sent events. Their data is JSON.',
            contentMediaType: 'application/json',
            contentSchema: envelope(output),
          },
        },
      }
    : {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              result: { type: 'object', properties: { data: envelope(output) }, required: ['data'] },
            },
            required: ['result'],
          },
        },
      };
}

function operationOf(document: ProcedureDocument): JsonSchema {
  const { path, type, meta, input, requiresInput: required } = document;
  const example = { json: document.example ?? {} };
  const content = input && { 'application/json': { schema: envelope(input), example } };
  const description = 'The input as URL-encoded JSON.';
  return {
    operationId: path,
    tags: [nounOf(path)],
    summary: meta.summary,
    description: [accessText(document), meta.notes].filter(Boolean).join(' '),
    security: meta.access === 'signedIn' ? [{ bearer: [] }] : [],
    ...(content &&
      type !== 'mutation' && {
        parameters: [{ name: 'input', in: 'query', description, required, content }],
      }),
    ...(content && type === 'mutation' && { requestBody: { required, content } }),
    responses: {
      200: {
        description: 'The answer',
        content: answerContent(document),
      },
      ...errorsAs('Error'),
    },
  };
}
