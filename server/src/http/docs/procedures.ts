import * as agencies from '@gantry/contract/agencies';
import * as alarmRules from '@gantry/contract/alarm-rules';
import * as alarms from '@gantry/contract/alarms';
import * as analytics from '@gantry/contract/analytics';
import * as audit from '@gantry/contract/audit';
import * as auth from '@gantry/contract/auth';
import * as calendars from '@gantry/contract/calendars';
import * as connections from '@gantry/contract/connections';
import * as coordinates from '@gantry/contract/coordinates';
import * as eventBatches from '@gantry/contract/event-batches';
import * as events from '@gantry/contract/events';
import * as evidence from '@gantry/contract/evidence';
import * as faults from '@gantry/contract/faults';
import * as incidentWork from '@gantry/contract/incident-work';
import * as incidents from '@gantry/contract/incidents';
import * as live from '@gantry/contract/live';
import * as locations from '@gantry/contract/locations';
import * as notices from '@gantry/contract/notices';
import * as person from '@gantry/contract/person';
import * as plans from '@gantry/contract/plans';
import * as points from '@gantry/contract/points';
import * as quality from '@gantry/contract/quality';
import * as reports from '@gantry/contract/reports';
import * as reviews from '@gantry/contract/reviews';
import * as rotas from '@gantry/contract/rotas';
import * as sensors from '@gantry/contract/sensors';
import * as situationReports from '@gantry/contract/situation-reports';
import * as storage from '@gantry/contract/storage';
import * as system from '@gantry/contract/system';
import * as traffic from '@gantry/contract/traffic';
import * as users from '@gantry/contract/users';
import * as views from '@gantry/contract/views';
import * as watchlist from '@gantry/contract/watchlist';
import * as webhooks from '@gantry/contract/webhooks';
import * as works from '@gantry/contract/works';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { ProcedureMeta } from '../../rpc/procedure.ts';
import { exampleFor } from './examples.ts';

/** JSON Schema, as far as the documents use it. */
export type JsonSchema = Record<string, unknown>;

/** The description of one procedure in the documents. */
export interface ProcedureDocument {
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: ProcedureMeta;
  readonly input: JsonSchema | null;
  /** An input; null if it takes none. */
  readonly example: object | null;
  /** Whether a call without an input is refused. */
  readonly requiresInput: boolean;
  /** The output; for a subscription, one message. */
  readonly output: JsonSchema;
}

/** Makes the JSON Schema of a schema, as a client sends (`input`) or receives (`output`) it. */
type Convert = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;

/** Every procedure of the API with the schemas that validate it, in the order of the router. */
export function describeProcedures(router: AnyTRPCRouter, convert: Convert = inline): ProcedureDocument[] {
  return Object.entries(router._def.procedures).map(([path, procedure]) =>
    describe(path, procedure, convert),
  );
}

/** One procedure; null if the router does not have it. */
export function describeProcedure(router: AnyTRPCRouter, path: string): ProcedureDocument | null {
  const procedures: Record<string, unknown> = router._def.procedures;
  return Object.hasOwn(procedures, path) ? describe(path, procedures[path], inline) : null;
}

function describe(path: string, procedure: unknown, convert: Convert): ProcedureDocument {
  const { type, inputs, output, ...def } = (procedure as { _def: Record<string, unknown> })._def;
  if (type !== 'query' && type !== 'mutation' && type !== 'subscription')
    throw new Error(`${path} is an unknown kind of procedure`);
  const meta = (def.meta ?? {}) as ProcedureMeta;
  const input = Array.isArray(inputs) ? inputs.find(isSchema) : undefined;
  const answer = type === 'subscription' ? meta.message : output;
  if (!isSchema(answer)) throw new Error(`${path} does not declare its output`);
  return {
    path,
    type,
    meta,
    input: input ? convert(input, 'input') : null,
    example: input ? exampleFor(path, input) : null,
    requiresInput: input !== undefined && !input.safeParse(undefined).success,
    output: convert(answer, 'output'),
  };
}

/** The responses for all errors, in the form of /trpc or as problems. */
export function errorsAs(form: 'Error' | 'Problem'): JsonSchema {
  const response = { $ref: `#/components/responses/${form}` };
  return { '4XX': response, '5XX': response };
}

/** How the documents represent what JSON Schema has no form for. */
const CONVERSION = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    if (zodSchema._zod.def.type === 'date')
      Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
    // The limits of JavaScript integers are not useful to readers.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
} as const satisfies Parameters<typeof z.toJSONSchema>[1];

/** A schema that contains all of its parts. */
function inline(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { ...CONVERSION, io });
  return json;
}

function isSchema(value: unknown): value is z.ZodType {
  return value instanceof z.ZodType;
}

const MODULES = [
  coordinates,
  person,
  sensors,
  faults,
  events,
  reviews,
  eventBatches,
  locations,
  points,
  traffic,
  quality,
  calendars,
  incidents,
  incidentWork,
  agencies,
  audit,
  evidence,
  plans,
  works,
  situationReports,
  watchlist,
  webhooks,
  notices,
  rotas,
  alarmRules,
  alarms,
  connections,
  analytics,
  reports,
  storage,
  views,
  users,
  auth,
  live,
  system,
];

/** The names of the contract's objects and enumerations: `listedSensor` is `ListedSensor`. */
const names = namesOf(MODULES);

/** A registry for zod that adds the names to the metadata of the schemas. */
const registry = {
  get: (schema: z.ZodType) => {
    const said = z.globalRegistry.get(schema);
    const id = names.get(schema);
    return id === undefined ? said : { ...said, id };
  },
  has: (schema: z.ZodType) => names.has(schema) || z.globalRegistry.has(schema),
} as unknown as typeof z.globalRegistry;

/** The named schemas of a document, which others refer to. */
export interface Components {
  /** Converts a schema; its named parts become components. */
  readonly convert: Convert;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

export function createComponents(): Components {
  const schemas: Record<string, JsonSchema> = {};
  /** The components as JSON by name, to tell whether two components of one name are the same. */
  const texts = new Map<string, string>();

  // A schema may differ as input and as output, for example in its defaults.
  const nameFor = (wanted: string, io: 'input' | 'output', text: string): string => {
    const plain = wanted.startsWith('__') ? 'Json' : wanted;
    const candidates = [plain, `${plain}${io === 'input' ? 'Sent' : 'Received'}`];
    for (let n = 2; ; n++) {
      const name = candidates.find((each) => (texts.get(each) ?? text) === text);
      if (name !== undefined) return name;
      candidates.push(`${plain}${n}`);
    }
  };

  return {
    schemas,
    convert(schema, io) {
      const json = z.toJSONSchema(z.object({ root: schema }), { ...CONVERSION, io, metadata: registry });
      const parts = Object.entries((json.$defs ?? {}) as Record<string, JsonSchema>);
      const finalNames = new Map<string, string>();
      for (const [name, part] of parts) {
        const text = JSON.stringify(part);
        const final = nameFor(name, io, text);
        texts.set(final, text);
        finalNames.set(name, final);
      }
      const named = <Value>(value: Value): Value =>
        JSON.parse(
          JSON.stringify(value).replaceAll(
            /"#\/\$defs\/([^"]+)"/g,
            (_, name: string) => `"#/components/schemas/${finalNames.get(name)}"`,
          ),
        );
      for (const [name, part] of parts) {
        const { id: _, ...rest } = part;
        schemas[finalNames.get(name) ?? name] ??= named(rest);
      }
      return named((json.properties as Record<string, JsonSchema>).root ?? {});
    },
  };
}

function namesOf(modules: readonly object[]): ReadonlyMap<z.ZodType, string> {
  const found = new Map<z.ZodType, string>();
  const taken = new Set<string>();
  for (const module of modules) {
    for (const [name, value] of Object.entries(module)) {
      const isNamed = value instanceof z.ZodObject || value instanceof z.ZodEnum;
      const id = `${name[0]?.toUpperCase()}${name.slice(1)}`;
      if (!isNamed || found.has(value) || taken.has(id)) continue;
      found.set(value, id);
      taken.add(id);
    }
  }
  return found;
}
