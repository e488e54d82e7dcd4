import { errorBody } from '@gantry/contract/envelope';
import { errorCodes } from '@gantry/contract/errors';
import { permissionNames } from '@gantry/contract/permissions';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { version } from '../../installation.ts';
import { describeProcedures, type JsonSchema, type ProcedureDocument } from './procedures.ts';

const META: JsonSchema = {
  type: 'object',
  description:
    'How superjson marks values that JSON has no type for, such as {"values": {"createdAt": ["Date"]}}.',
};

const { $schema: _, ...errorSchema } = z.toJSONSchema(errorBody);

/** The API as an OpenAPI 3.1 document, from the schemas that validate it. */
export function describeOpenApi(router: AnyTRPCRouter): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gantry',
      version,
      description:
        'Traffic management: roadside sensors and the events and violations they report. Queries are GET with the input as URL-encoded JSON in `input`; mutations are POST with a JSON body. Both wrap the input as `{"json": …}` (superjson).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      describeProcedures(router).map((document) => [
        `/trpc/${document.path}`,
        { [document.type === 'mutation' ? 'post' : 'get']: operationOf(document) },
      ]),
    ),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
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
      },
    },
  };
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
  return meta.permission
    ? `Needs a token with the permission ${permissionNames[meta.permission]}.`
    : 'Needs a token.';
}

function answerContent({ type, output }: ProcedureDocument): JsonSchema {
  return type === 'subscription'
    ? {
        'text/event-stream': {
          schema: { type: 'string', description: 'Messages', 'x-message': envelope(output) },
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
  const { path, type, meta, input } = document;
  const content = input && { 'application/json': { schema: envelope(input) } };
  const required = input !== null && Array.isArray(input.required) && input.required.length > 0;
  return {
    operationId: path,
    tags: [path.split('.')[0]],
    summary: meta.summary,
    description: [accessText(document), meta.notes].filter(Boolean).join(' '),
    security: meta.access === 'signedIn' ? [{ bearer: [] }] : [],
    ...(content &&
      type !== 'mutation' && { parameters: [{ name: 'input', in: 'query', required, content }] }),
    ...(content && type === 'mutation' && { requestBody: { required, content } }),
    responses: {
      200: {
        description: 'The answer',
        content: answerContent(document),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}
