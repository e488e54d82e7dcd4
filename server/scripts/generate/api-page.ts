import { errorCodes } from '@gantry/contract/errors';
import { type Permission, permissionNames, permissions, role } from '@gantry/contract/permissions';
import type { AnyTRPCRouter } from '@trpc/server';
import {
  describeProcedures,
  type JsonSchema,
  type ProcedureDocument,
} from '../../src/http/docs/procedures.ts';
import { routes } from '../../src/http/rest/routes.ts';
import { locationNameTable, severityTables, violationNote } from './event-tables.ts';

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const bounds = (schema: JsonSchema): string => {
  const notes: string[] = [];
  const say = (key: string, words: string) => {
    if (schema[key] !== undefined) notes.push(`${words} ${String(schema[key])}`);
  };
  say('minLength', 'at least');
  say('maxLength', 'at most');
  say('minimum', '≥');
  say('maximum', '≤');
  say('minItems', 'at least');
  say('maxItems', 'at most');
  if (schema.default !== undefined) notes.push(`default ${JSON.stringify(schema.default)}`);
  return notes.length > 0 ? ` (${notes.join(', ')})` : '';
};

/** The type that a JSON Schema describes, in words: `string`, `A or B`, `{a, b?}`, `array of A`. */
const typeText = (schema: JsonSchema): string => {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    const options = choices.filter(isObject).map((option) => typeText(option) + bounds(option));
    return [...new Set(options)].join(' or ');
  }
  if (schema.type === 'array')
    return `array of ${isObject(schema.items) ? typeText(schema.items) : 'anything'}`;
  if (schema.type === 'object') {
    if (!isObject(schema.properties)) return 'map of string to anything';
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const members = Object.keys(schema.properties).map((name) => (required.has(name) ? name : `${name}?`));
    return `{${members.join(', ')}}`;
  }
  if (schema.format === 'date-time') return 'Date';
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'anything';
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The object that a field contains, directly or in a list, preceded by the prefix for the names of its members. */
const objectIn = (name: string, schema: JsonSchema): readonly [string, JsonSchema] | null => {
  if (isObject(schema.properties)) return [`${name}.`, schema];
  if (schema.type === 'array' && isObject(schema.items)) return objectIn(`${name}[]`, schema.items);
  const choices = schema.anyOf ?? schema.oneOf;
  const [only, ...others] = Array.isArray(choices)
    ? choices.filter((choice): choice is JsonSchema => isObject(choice) && choice.type !== 'null')
    : [];
  return only && others.length === 0 ? objectIn(name, only) : null;
};

/** The rows of the members of an object. @param isDeep whether the members of objects within it follow */
const memberRows = (schema: JsonSchema, isDeep: boolean, prefix = ''): string[] => {
  if (!isObject(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties)
    .filter((entry): entry is [string, JsonSchema] => isObject(entry[1]))
    .flatMap(([name, member]) => {
      const optional = required.has(name) ? '' : '?';
      const description = typeof member.description === 'string' ? member.description : '';
      const row = `| \`${prefix}${name}${optional}\` | ${cell(typeText(member) + bounds(member))} | ${cell(description)} |`;
      const inner = isDeep ? objectIn(prefix + name, member) : null;
      return inner ? [row, ...memberRows(inner[1], isDeep, inner[0])] : [row];
    });
};

const shape = (title: string, schema: JsonSchema, isDeep = false): string => {
  const item = schema.type === 'array' && isObject(schema.items) ? schema.items : null;
  if (Array.isArray(schema.oneOf)) {
    const choices = schema.oneOf.filter(isObject);
    return choices.map((choice, index) => shape(index === 0 ? title : 'or', choice, isDeep)).join('\n\n');
  }
  const rows = memberRows(item ?? schema, isDeep);
  if (rows.length === 0) return `**${title}:** ${typeText(schema)}`;
  const what = item ? `${title}: an array of` : `${title}:`;
  return `**${what}**\n\n| Field | Type | Notes |\n|---|---|---|\n${rows.join('\n')}`;
};

const accessText = ({ meta }: ProcedureDocument): string => {
  if (meta.access === 'device') return 'sensor API key in the input';
  if (meta.access !== 'signedIn') return 'public';
  const token = meta.needsLogin ? 'token of a login, not an API token,' : 'token';
  return meta.permission ? `${token} with ${permissionNames[meta.permission]}` : token.replace(/,$/, '');
};

const kindText = {
  query: 'Query (GET)',
  mutation: 'Mutation (POST)',
  subscription: 'Subscription (GET, server-sent events)',
} as const;

const section = (document: ProcedureDocument): string =>
  [
    `### ${document.path}`,
    `${kindText[document.type]} · ${accessText(document)}`,
    [document.meta.summary && `${document.meta.summary}.`, document.meta.notes].filter(Boolean).join(' '),
    document.input ? shape('Input', document.input, true) : '**Input:** none',
    shape(document.type === 'subscription' ? 'Message' : 'Answer', document.output),
  ].join('\n\n');

const permissionTable = (): string => {
  const rows = (Object.keys(permissions) as Permission[]).map((permission) => {
    const held: readonly string[] = permissions[permission];
    return `| ${permissionNames[permission]} | ${role.options.map((each) => (held.includes(each) ? 'yes' : 'no')).join(' | ')} |`;
  });
  return `| Permission | ${role.options.join(' | ')} |\n|---|${'---|'.repeat(role.options.length)}\n${rows.join('\n')}`;
};

const errorTable = (): string => {
  const rows = Object.entries(errorCodes).map(
    ([name, { code, httpStatus }]) => `| ${name} | ${code} | ${httpStatus} |`,
  );
  return `| data.code | code | data.httpStatus |\n|---|---|---|\n${rows.join('\n')}`;
};

/** The addresses of the REST form. */
const routeTable = (): string => {
  const rows = routes.map(({ method, path, procedure, status = 200, ofArrays }) => {
    const called = ofArrays ? `${procedure}, for an array ${ofArrays.procedure}` : procedure;
    return `| ${method} | \`${path}\` | ${called} | ${status} |`;
  });
  return `| Method | Address | Procedure | Status |\n|---|---|---|---|\n${rows.join('\n')}`;
};

/** docs/api.md */
export const apiPage = (router: AnyTRPCRouter): string => {
  const documents = describeProcedures(router);
  const nouns = [...new Set(documents.map(({ path }) => path.split('.')[0] ?? ''))];
  const groups = nouns.map((noun) => {
    const sections = documents.filter(({ path }) => path.split('.')[0] === noun).map(section);
    return `## ${noun}\n\n${sections.join('\n\n')}`;
  });
  return `# API

The API has two forms with the same procedures, rules and limits: procedures at \`/trpc\`, and plain JSON over HTTP at
[\`/v1\`](#rest-form). Both are described by \`/openapi.json\`, which \`/docs\` shows.

Procedures are called at \`/trpc/<name>\`. A query is a GET request whose input, if any, is in the parameter \`input\` as
URL-encoded JSON \`{"json": …}\`. A mutation is a POST request with \`Content-Type: application/json\` and the body
\`{"json": …}\`. The answer is \`{"result": {"data": {"json": …, "meta"?: …}}}\`; \`meta\` is superjson's and marks dates,
which are ISO 8601 strings. Send the token in the header \`Authorization: Bearer <token>\`.

**Batches.** Join the names with commas, add \`batch=1\`, and send the inputs as an object keyed by position. The answer is an
object keyed by position or, with \`Accept: application/vnd.trpc.batch+json\`, an array. Its status is the status of the calls if
all have the same one, otherwise 207. The calls run at the same time, in no particular order: send what depends on an earlier
change in a request of its own. A batch has at most 50 calls and at most one \`auth.login\`.

**Order of checks.** Method and procedure, then token, then permission, then input.

**Limits.** A request is answered within 30 seconds; a body has at most 10 MB (10,485,760 bytes), 64 levels and
250,000 values.

**Times.** Dates are returned as ISO 8601 strings in UTC. An input may have an offset; without one, it is in the service's time
zone. A plain date (\`2026-01-31\`) means the start of that day as \`startDate\` and its end as \`endDate\`; both are inclusive.

**Subscriptions** are streams of server-sent events that tRPC's \`httpSubscriptionLink\` can read. A stream is opened in a request
of its own, with the token in the header \`Authorization\`, never in the address. Each message has an id. To resume after an
interruption, send the last id in the header \`Last-Event-ID\` (or as \`lastEventId\` in the input). The stream then continues
with everything committed since, in order and without gaps, for up to 24 hours; a message may be repeated. An id is a position
in the order of all commits, so that a stream can be resumed with the id of another one, whatever the two follow. \`upToDate\` means
that everything committed before its \`at\` was sent, and is sent at least every 10 seconds while there is nothing else, also by a stream
that is still catching up. \`missed\` says how many messages were omitted because the client was too slow. A stream
ends with UNAUTHORIZED when its token is no longer valid, and with SERVICE_UNAVAILABLE when the service stops or an API token acts with
another role than before; then, open it again.
A program without tRPC reads the stream as follows: after the event \`connected\`, every event without a name is a message, with
\`{"json", "meta"?}\` as its \`data\`. An error in an open stream, which includes an invalid input, is the event \`serialized-error\` with
\`{"json": {"message", "code", "data"}}\`, and the stream ends. The status is 200 in both cases.
\`live.onAny\` follows everything in one stream.

**superjson.** An input may contain superjson's \`meta.values\` with the types Date, undefined, bigint, number, RegExp, Map and Set.
\`meta.referentialEqualities\` is accepted if every value is written wherever it occurs, as superjson does by default; references
alone, as with its option \`dedupe\`, are refused.

## REST form

Under \`/v1\`, inputs and answers are plain JSON, without \`{"json": …}\`. Fields of the input are in the path, and otherwise in the
query of GET and DELETE (repeat a parameter for a list) or in the JSON object of the body. Unknown parameters of a query, and
unknown fields of a body, are refused by name; to a device, they are named in \`warnings\` of the answer, and its event is stored. A \`+\` in a query means a blank: write an offset as \`%2B02:00\`. Answers are
those of the procedures below; dates are ISO 8601 strings in UTC. 201 has the header \`Location\`, 204 has no body. HEAD is possible
wherever GET is.

Users send \`Authorization: Bearer <token>\`. Devices send the API key of their sensor in the header \`x-api-key\`, or as
\`Authorization: Bearer <key>\`, or as \`apiKey\` in the body.

\`\`\`sh
curl -X POST http://localhost:4000/v1/events -H "x-api-key: $KEY" -H "Content-Type: application/json" \\
  -d '{"eventType": "SPEED_DETECTION", "vehicleSpeed": 63.5}'
\`\`\`

\`POST /v1/events\` takes one event, or an array of up to 1000. An array is answered like \`events.ingestBatch\`: with 200 if all
events are stored, and 207 if some are refused. The idempotency key of a single event may be in the header \`Idempotency-Key\`;
with an array, this header is refused, because each event needs a key of its own in \`idempotencyKey\`.
A repeated event is answered as it was the first time, with 201 and the same \`eventId\`; in an array, \`duplicate\` is true for it.

\`POST /v1/counts\` takes what a detector counted in intervals, as \`{"periods": [{"start": "2026-01-31T08:00:00Z", "seconds": 900, "volume": 42}]}\`,
and is answered with 200 and a result for each.

A device that cannot post sends heartbeats with \`GET\` or \`HEAD /v1/heartbeat\`. If it cannot send headers either, the key may be in the
address (\`?apiKey=…\`). The service never logs it, but proxies log addresses: prefer a header.

\`GET /v1/stream\` sends events, sensor status changes, incident changes and alerts as server-sent events: \`data\` is a message of
\`live.onAny\` in plain JSON, and \`id\` is what to send as \`Last-Event-ID\` (or as \`lastEventId\` in the query) in order to continue after
it. \`?topics=events&topics=incidents\` selects topics. A note \`upToDate\` is sent every 10 s. An event named \`problem\` contains an error,
after which the stream ends.

\`\`\`sh
curl -N http://localhost:4000/v1/stream -H "Authorization: Bearer $TOKEN"
\`\`\`

Errors are \`application/problem+json\` (RFC 9457): \`{"type", "title", "status", "detail", "code", "requestId", "issues"?}\`. \`code\` is
one of the table below.

${routeTable()}

[examples/python](../examples/python/report_events.py) is a device and a user in Python, with its standard library only.

## Errors

Every error is \`{"error": {"json": {"message", "code", "data": {"code", "httpStatus"}}}}\`. For an
invalid input, \`data.issues\` is a list of \`{path, message}\`. TOO_MANY_REQUESTS and SERVICE_UNAVAILABLE include the header
\`Retry-After\`. Every answer has the header \`x-request-id\`, under which the log has its errors.

A field that a procedure does not know is ignored. Unless the caller is a device, whose answer has \`warnings\`, the header
\`x-gantry-ignored\` of the answer names such fields: paths with dots, percent-encoded and separated by commas, each preceded by the
position of its call in a batch. Under \`/v1\`, they are refused.

${errorTable()}

## Roles

${permissionTable()}

## Severity of an event

${severityTables()}

## Violations

${violationNote()}

## locationName of an event

${locationNameTable()}

${groups.join('\n\n')}

_Generated from \`contract/\` and the routers by \`npm run generate\`._
`;
};
