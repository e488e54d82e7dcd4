import { permissionNames } from '@gantry/contract/permissions';
import type { AnyTRPCRouter } from '@trpc/server';
import { type Route, routes } from '../rest/routes.ts';
import { describeProcedure, errorsAs, type JsonSchema, type ProcedureDocument } from './procedures.ts';

/** An error of the REST form. */
export const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'An error as in RFC 9457.',
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string', description: 'The name of the HTTP status.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What is wrong, and what to do.' },
    code: { type: 'string', description: 'The code of the error, as in the other form of the API.' },
    requestId: { type: 'string', description: 'The log has errors of the service under this id.' },
    issues: {
      type: 'array',
      description: 'The invalid parts of the input.',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
        required: ['path', 'message'],
      },
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
};

/** The header of addresses that take single events. */
const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The `idempotencyKey` of a single event. Refused with an array, whose events need keys of their own.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

/** The REST form of the API as paths of OpenAPI. @param documents the procedures, with named schemas */
export function restPaths(router: AnyTRPCRouter, documents: readonly ProcedureDocument[]): JsonSchema {
  const named = new Map(documents.map((document) => [document.path, document]));
  const paths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const inline = describeProcedure(router, route.procedure);
    const document = named.get(route.procedure);
    if (!inline || !document) continue;
    const batch = route.ofArrays && named.get(route.ofArrays.procedure);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operationOf(route, { inline, document, batch }),
    };
  }
  return paths;
}

interface Described {
  /** The procedure with schemas that contain all of their parts. */
  readonly inline: ProcedureDocument;
  readonly document: ProcedureDocument;
  /** The procedure for arrays. */
  readonly batch: ProcedureDocument | undefined;
}

function operationOf(route: Route, { inline, document, batch }: Described): JsonSchema {
  const { meta, path } = document;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const properties = (inline.input?.properties ?? {}) as Record<string, JsonSchema>;
  const wanted = new Set((inline.input?.required ?? []) as string[]);
  const isDevice = meta.access === 'device';
  const example = (document.example ?? {}) as Record<string, unknown>;
  const parameter = (name: string, place: 'path' | 'query'): JsonSchema => {
    const { description, ...schema } = properties[name] ?? {};
    return {
      name,
      in: place,
      required: place === 'path' || (wanted.has(name) && !(isDevice && name === 'apiKey')),
      description: description ?? meaningOf(name),
      schema,
      ...(example[name] !== undefined && { example: example[name] }),
    };
  };
  const others = Object.keys(properties).filter((name) => !inPath.includes(name));
  const inQuery = route.input === 'query' ? others.filter((name) => isSimple(properties[name])) : [];
  const inBody = route.input === 'body' ? others.filter((name) => name !== 'apiKey') : [];
  // A choice between several forms of the input has no properties of its own.
  const hasForms = route.input === 'body' && inline.input?.properties === undefined && inline.input !== null;
  const isWhole = inPath.length === 0 && !isDevice;
  const body = bodyOf(inline, inBody, isWhole ? document.input : null);
  const schema = route.ofArrays ? { oneOf: [body, { type: 'array', items: body, maxItems: 1000 }] } : body;
  const sent = hasForms
    ? example
    : Object.fromEntries(inBody.flatMap((name) => (name in example ? [[name, example[name]]] : [])));
  return {
    operationId: operationIdOf(route),
    tags: [path.split('.')[0]],
    summary: meta.summary,
    description: [accessText(document), `Calls \`${path}\`.`, meta.notes].filter(Boolean).join(' '),
    security: securityOf(document),
    parameters: [
      ...inPath.map((name) => parameter(name, 'path')),
      ...inQuery.map((name) => parameter(name, 'query')),
      ...(route.ofArrays ? [IDEMPOTENCY_KEY] : []),
    ],
    ...((inBody.length > 0 || hasForms) && {
      requestBody: {
        required: hasForms || inBody.some((name) => wanted.has(name)),
        content: { 'application/json': { schema, example: sent } },
      },
    }),
    responses: { ...successOf(route, document, batch), ...errorsAs('Problem') },
  };
}

/** The schema of the body: the named schema if it is the whole input, otherwise an object with the named fields. */
function bodyOf(
  { input }: ProcedureDocument,
  names: readonly string[],
  whole: JsonSchema | null,
): JsonSchema {
  if (whole) return whole;
  const properties = (input?.properties ?? {}) as Record<string, JsonSchema>;
  const required = ((input?.required ?? []) as string[]).filter((name) => names.includes(name));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    ...(required.length > 0 && { required }),
  };
}

/** A stream of server-sent events. */
function streamOf(message: JsonSchema): JsonSchema {
  const schema = {
    type: 'string',
    description:
      'Server-sent events. `data` is one message as JSON, and `id` is what to send as `Last-Event-ID` in order to continue after it. An event named `problem` contains an error, after which the stream ends.',
    contentMediaType: 'application/json',
    contentSchema: message,
  };
  return { description: 'The stream', content: { 'text/event-stream': { schema } } };
}

function successOf(route: Route, { type, output }: ProcedureDocument, batch: ProcedureDocument | undefined) {
  const { status = 200, created } = route;
  if (status === 204) return { 204: { description: 'Done' } };
  if (type === 'subscription') return { 200: streamOf(output) };
  const content = (schema: JsonSchema) => ({ 'application/json': { schema } });
  const location = {
    location: { description: 'Where it is, relative to this address.', schema: { type: 'string' } },
  };
  const several = batch && {
    200: { description: 'All events of the array are stored', content: content(batch.output) },
    207: { description: 'Some events of the array were refused', content: content(batch.output) },
  };
  return {
    [status]: { description: 'The answer', ...(created && { headers: location }), content: content(output) },
    ...several,
  };
}

function operationIdOf({ method, path }: Route): string {
  const words = path
    .split(/[/-]/)
    .slice(2)
    .map((part) => (part.startsWith('{') ? `By_${part.slice(1, -1)}` : part));
  return [method.toLowerCase(), ...words].join('_').replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

function securityOf({ meta }: ProcedureDocument): JsonSchema[] {
  if (meta.access === 'device') return [{ deviceKey: [] }, { deviceBearer: [] }];
  return meta.access === 'signedIn' ? [{ bearer: [] }] : [];
}

function accessText({ meta }: ProcedureDocument): string {
  if (meta.access === 'device') return 'Called by a sensor with its API key.';
  if (meta.access !== 'signedIn') return 'Public.';
  return meta.permission
    ? `Needs a token with the permission ${permissionNames[meta.permission]}.`
    : 'Needs a token.';
}

function meaningOf(name: string): string {
  return name === 'apiKey' ? 'The API key of the sensor, if it is in no header.' : `The field \`${name}\`.`;
}

/** Whether a field can be a parameter: lists of objects cannot. */
function isSimple(schema: JsonSchema | undefined): boolean {
  const items = schema?.items as JsonSchema | undefined;
  return items?.type !== 'object';
}

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
        ...errorsAs('Error'),
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
        ...errorsAs('Error'),
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
        ...errorsAs('Error'),
      },
    },
  },
  '/cases/exports/{id}/file': {
    get: {
      operationId: 'packageFile',
      tags: ['operation'],
      summary: 'Get the file of an evidence package',
      description:
        'Needs a token with the permission Verify Cases. The package must be DONE and younger than 30 days. Each download is counted, and an entry of the log of the case.',
      security: [{ bearer: [] }],
      parameters: [pathParameter('id', 'The id of the package.', '^[0-9a-f-]{36}$')],
      responses: {
        200: { description: 'The file', content: { 'application/zip': BINARY } },
        ...errorsAs('Error'),
      },
    },
  },
  '/evidence/gantry-verify.mjs': probe(
    'verifyProgram',
    'Get the program that verifies evidence packages',
    'Public. One file for Node.js 20 or newer, without dependencies.',
    'text/javascript',
  ),
  '/live': probe('live', 'Whether the process is alive', 'Public.'),
  '/ready': probe(
    'ready',
    'Whether the process can answer',
    'Public. 503 while the database is away or the process is stopping. `reason` names nodes of a database cluster that do not answer.',
  ),
  '/.well-known/gantry-seal.json': probe(
    'sealKeys',
    'Get the public keys of seals, and the latest seal',
    'Public. `keys` are those with which seals were signed (Ed25519), the first one first; `latest` is null before the first seal.',
  ),
  '/metrics': probe('metrics', 'Get the metrics for Prometheus', 'Public.', 'text/plain'),
};
