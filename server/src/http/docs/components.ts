import * as analytics from '@gantry/contract/analytics';
import * as auth from '@gantry/contract/auth';
import * as connections from '@gantry/contract/connections';
import * as coordinates from '@gantry/contract/coordinates';
import * as eventBatches from '@gantry/contract/event-batches';
import * as events from '@gantry/contract/events';
import * as incidents from '@gantry/contract/incidents';
import * as live from '@gantry/contract/live';
import * as locations from '@gantry/contract/locations';
import * as person from '@gantry/contract/person';
import * as reports from '@gantry/contract/reports';
import * as reviews from '@gantry/contract/reviews';
import * as sensors from '@gantry/contract/sensors';
import * as storage from '@gantry/contract/storage';
import * as system from '@gantry/contract/system';
import * as traffic from '@gantry/contract/traffic';
import * as users from '@gantry/contract/users';
import * as views from '@gantry/contract/views';
import * as watchlist from '@gantry/contract/watchlist';
import * as webhooks from '@gantry/contract/webhooks';
import { z } from 'zod';
import { CONVERSION, type Convert, type JsonSchema } from './procedures.ts';

const MODULES = [
  coordinates,
  person,
  sensors,
  events,
  reviews,
  eventBatches,
  locations,
  traffic,
  incidents,
  watchlist,
  webhooks,
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
