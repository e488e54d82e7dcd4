import type { AnyTRPCProcedure } from '@trpc/server';
import type { RequestContext } from '../context.ts';

/** What the steps of a procedure hand on to one another. */
interface Step {
  readonly ctx: RequestContext;
  readonly input: unknown;
  readonly getRawInput: () => Promise<unknown>;
}

interface Outcome {
  readonly ok: boolean;
  readonly data: unknown;
}

type Middleware = (options: unknown) => Promise<Outcome>;

const NEVER = new AbortController().signal;

/**
 * Runs a procedure: its middlewares one after another, the checks of the input and the output and the resolver being
 * such too. It does what the procedure itself would, which copies every option between any two steps by descriptors.
 * Measured for `events.ingest` in one run: 32 µs that way, 20 µs this way.
 */
export const runProcedure = async (
  procedure: AnyTRPCProcedure,
  path: string,
  ctx: RequestContext,
  readInput: () => unknown,
): Promise<unknown> => {
  const { middlewares, meta, type } = procedure._def as unknown as {
    middlewares: readonly Middleware[];
    meta: unknown;
    type: string;
  };
  const run = (index: number, { ctx, input, getRawInput }: Step): Promise<Outcome> => {
    const next = (changed?: Partial<Step>): Promise<Outcome> =>
      run(index + 1, {
        ctx: changed?.ctx ? { ...ctx, ...changed.ctx } : ctx,
        input: changed && 'input' in changed ? changed.input : input,
        getRawInput: changed?.getRawInput ?? getRawInput,
      });
    const middleware = middlewares[index];
    if (!middleware) throw new Error(`${path} has no resolver`);
    return middleware({ ctx, input, getRawInput, next, meta, type, path, signal: NEVER, batchIndex: 0 });
  };
  const outcome = await run(0, { ctx, input: undefined, getRawInput: async () => readInput() });
  return outcome.data;
};
