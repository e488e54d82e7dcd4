import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import type { RequestContext } from '../context.ts';
import { inputFailure } from './errors.ts';

/** A procedure made ready to run. Both throw what the guards throw. */
export interface Prepared {
  /** Runs it for one request. `readInput` is asked after the guards let the caller in. */
  readonly run: (ctx: RequestContext, readInput: () => unknown) => Promise<unknown>;
  /** Only lets the guards look at the caller. */
  readonly admit: (ctx: RequestContext) => Promise<void>;
}

interface Outcome {
  readonly data: unknown;
}

/** A step before the input is looked at: it lets the caller in by calling `next`, maybe with more in the context. */
type Guard = (options: unknown) => Promise<Outcome>;

/** What tRPC keeps of a procedure, as far as it is used here. */
interface Definition {
  readonly type: string;
  readonly meta: unknown;
  readonly middlewares: readonly (Guard & { readonly _type?: string })[];
  readonly inputs: readonly z.ZodType[];
  readonly output?: z.ZodType;
  readonly resolver: (options: unknown) => unknown;
}

/** What is done once the guards let the caller in. */
type Step = (ctx: RequestContext, readInput: () => unknown) => Promise<Outcome>;

const NOTHING: Outcome = { data: undefined };
const NEVER = new AbortController().signal;

const onlyInput = (path: string, inputs: readonly z.ZodType[]): z.ZodType | undefined => {
  if (inputs.length > 1) throw new Error(`${path} has more than one input schema`);
  return inputs[0];
};

/**
 * Makes a procedure ready to run: its guards, its input's schema, its resolver, its output's schema. It does what the
 * procedure itself would, which copies every option between any two steps, and its schemas are compiled to code.
 * Measured for `events.ingest`: 32 µs as tRPC does it, 20 µs by walking the same steps; compiled, its schema takes 0.7 µs
 * in place of 5.0.
 */
export const prepare = (path: string, procedure: AnyTRPCProcedure): Prepared => {
  const { type, meta, middlewares, inputs, output, resolver } = procedure._def as unknown as Definition;
  // tRPC's own steps have a type, and the last one calls the resolver.
  const guards = middlewares.slice(0, -1).filter(({ _type }) => _type === undefined);
  const input = onlyInput(path, inputs);
  const inputSchema = input && z.compile(input);
  const outputSchema = output && z.compile(output);

  const readChecked = (readInput: () => unknown): unknown => {
    if (!inputSchema) return undefined;
    const parsed = inputSchema.safeParse(readInput());
    if (!parsed.success) throw inputFailure(parsed.error);
    return parsed.data;
  };

  const resolve = async (ctx: RequestContext, readInput: () => unknown): Promise<Outcome> => {
    const given = readChecked(readInput);
    const data = await resolver({ ctx, input: given, type, path, signal: NEVER, batchIndex: 0 });
    if (!outputSchema) return { data };
    const parsed = outputSchema.safeParse(data);
    if (!parsed.success) throw new Error(`${path} answers what it should not`, { cause: parsed.error });
    return { data: parsed.data };
  };

  const pass = (
    index: number,
    ctx: RequestContext,
    readInput: () => unknown,
    then: Step,
  ): Promise<Outcome> => {
    const guard = guards[index];
    if (!guard) return then(ctx, readInput);
    const next = (more?: { ctx?: object }): Promise<Outcome> =>
      pass(index + 1, more?.ctx ? { ...ctx, ...more.ctx } : ctx, readInput, then);
    const getRawInput = async () => readInput();
    return guard({
      ctx,
      input: undefined,
      getRawInput,
      next,
      meta,
      type,
      path,
      signal: NEVER,
      batchIndex: 0,
    });
  };

  return {
    run: async (ctx, readInput) => (await pass(0, ctx, readInput, resolve)).data,
    admit: async (ctx) => {
      await pass(
        0,
        ctx,
        () => undefined,
        async () => NOTHING,
      );
    },
  };
};
