import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { ProcedureMeta } from '../../rpc/procedure.ts';

/** JSON Schema, as far as the documents use it. */
export type JsonSchema = Record<string, unknown>;

/** The description of one procedure in the documents. */
export interface ProcedureDocument {
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly meta: ProcedureMeta;
  readonly input: JsonSchema | null;
  /** Whether a call without an input is refused. */
  readonly requiresInput: boolean;
  /** The output; for a subscription, one message. */
  readonly output: JsonSchema;
}

/** Makes the JSON Schema of a schema, as a client sends (`input`) or receives (`output`) it. */
export type Convert = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;

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
    requiresInput: input !== undefined && !input.safeParse(undefined).success,
    output: convert(answer, 'output'),
  };
}

/** How the documents represent what JSON Schema has no form for. */
export const CONVERSION = {
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
