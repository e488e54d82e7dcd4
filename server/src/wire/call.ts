import type { ErrorEnvelope, ResultEnvelope } from '@gantry/contract/envelope';
import type { ErrorCode } from '@gantry/contract/errors';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { RequestContext } from '../context.ts';
import { failureOf, WireError } from './errors.ts';
import { serializeOutput } from './output.ts';
import { runProcedure } from './run.ts';

/** One procedure call as it came over HTTP. */
export interface Call {
  readonly method: 'query' | 'mutation' | null;
  readonly path: string;
  /** Parses the input, once. It is asked for after the caller was admitted, so that a stranger learns nothing of their input. */
  readonly input: () => unknown;
}

/** The answer to one call. */
export interface Answer {
  readonly status: number;
  readonly envelope: ResultEnvelope | ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
}

/** Calls procedures of the API and always answers, whatever happens. */
export type Caller = (ctx: RequestContext, call: Call) => Promise<Answer>;

const httpMethod = { query: 'GET', mutation: 'POST' } as const;

const withDeadline = async <Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const late = () =>
      reject(new WireError('TIMEOUT', `The request took longer than ${timeoutMs / 1000} seconds`));
    timer = setTimeout(late, timeoutMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};

/** A map, because a plain object would find procedures named `constructor`. */
const proceduresOf = (router: AnyTRPCRouter): ReadonlyMap<string, AnyTRPCProcedure> =>
  new Map(Object.entries<AnyTRPCProcedure>(router._def.procedures));

/** How much of a name that came from outside is repeated. */
const shown = (path: string): string => path.slice(0, 100).toWellFormed();

/** @param timeoutMs how long a call may take, in milliseconds */
export const createCaller = (router: AnyTRPCRouter, timeoutMs: number): Caller => {
  const procedures = proceduresOf(router);

  const find = (call: Call) => {
    const procedure = procedures.get(call.path);
    if (!procedure) throw new WireError('NOT_FOUND', `There is no procedure "${shown(call.path)}"`);
    const { type } = procedure._def;
    if (type !== call.method) {
      const method = type === 'mutation' ? httpMethod.mutation : httpMethod.query;
      throw new WireError('METHOD_NOT_SUPPORTED', `Call ${call.path} with ${method}`, {
        headers: { allow: method },
      });
    }
    return procedure;
  };

  const report = (ctx: RequestContext, path: string, code: ErrorCode | 'OK', started: number): void => {
    const procedure = procedures.has(path) ? path : 'unknown';
    ctx.app.metrics.requests.inc({ procedure, code });
    ctx.app.metrics.requestSeconds.observe({ procedure }, (performance.now() - started) / 1000);
  };

  return async (ctx, call) => {
    const started = performance.now();
    try {
      const procedure = find(call);
      const output: unknown = await withDeadline(
        runProcedure(procedure, call.path, ctx, call.input),
        timeoutMs,
      );
      report(ctx, call.path, 'OK', started);
      return { status: 200, envelope: { result: { data: serializeOutput(output) } }, headers: {} };
    } catch (error) {
      const { body, headers, unexpected } = failureOf(error);
      const log = ctx.app.log.child({ requestId: ctx.caller.requestId, procedure: shown(call.path) });
      if (unexpected) log.error({ err: error }, 'a call failed');
      else log.debug({ code: body.data.code, reason: body.message }, 'a call was refused');
      report(ctx, call.path, body.data.code, started);
      return { status: body.data.httpStatus, envelope: { error: { json: body } }, headers };
    }
  };
};
