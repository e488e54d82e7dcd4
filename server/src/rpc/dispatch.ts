import type { ServerResponse } from 'node:http';
import type { ErrorBody } from '@gantry/contract/envelope';
import { type ErrorCode, IGNORED_HEADER, ignoredHeader } from '@gantry/contract/errors';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { Counter, Histogram } from 'prom-client';
import type { Core, RequestContext } from '../platform/context.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { AnswerBudget } from './budgets.ts';
import { Deadline } from './deadline.ts';
import { failureOf, WireError } from './errors.ts';
import { ReadyAnswer, type Serialized, serialize } from './output.ts';
import { type Prepared, prepare } from './run.ts';

/** One procedure call as received over HTTP. */
export interface Call {
  readonly method: 'query' | 'mutation' | null;
  readonly path: string;
  /**
   * Parses the input. It is called after the caller was admitted, so that others learn nothing about their input;
   * only for a device it is called before, because the input contains the key.
   */
  readonly input: () => unknown;
  /** Whether unknown fields of the input are refused instead of being ignored and named in a header. */
  readonly refusesUnknown?: boolean;
}

/** The answer to one call. */
export interface Answer {
  readonly status: number;
  readonly outcome: { readonly result: Serialized } | { readonly error: ErrorBody };
  readonly headers: Readonly<Record<string, string>>;
}

/** The destination of an answer. */
export interface Place {
  readonly response: ServerResponse;
  /** Whether it is part of a batch. */
  readonly isBatch: boolean;
}

/** Maximum weight of a batch. An ordinary call weighs 1, so fifty of them leave room for some more expensive ones. */
const MAX_BATCH_WEIGHT = 100;

/** Calls procedures of the API. */
export interface Dispatcher<App> {
  /** Calls a procedure. Always returns an answer, even after an error. */
  call(ctx: RequestContext<App>, call: Call, place: Place): Promise<Answer>;
  /** @throws WireError BAD_REQUEST when the total weight of a batch is too high */
  weigh(calls: readonly Call[]): void;
  /** Checks whether the caller may call the procedure and whether the input is JSON. @returns the refusal, or null */
  refuse(ctx: RequestContext<App>, call: Call): Promise<Answer | null>;
  /**
   * Opens a subscription, which ends when the signal is aborted.
   * @returns its messages
   * @throws the errors of its guard, and WireError BAD_REQUEST for invalid input
   */
  subscribe(ctx: RequestContext<App>, call: Call, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

const NO_HEADERS = {};

const httpMethod = { query: 'GET', mutation: 'POST' } as const;

interface Procedure<App> extends Prepared<App> {
  readonly type: string;
  /** Counts a successful call and its duration in seconds. */
  readonly countOk: (seconds: number) => void;
}

export interface DispatcherOptions {
  /** Time limit of a call, in milliseconds. */
  readonly timeoutMs: number;
  readonly answers: AnswerBudget;
}

export function createDispatcher<App extends Core>(
  router: AnyTRPCRouter,
  { metrics }: App,
  { timeoutMs, answers }: DispatcherOptions,
): Dispatcher<App> {
  const procedures = proceduresOf<App>(router, metrics);
  const deadline = new Deadline(
    timeoutMs,
    () => new WireError('TIMEOUT', `The request took longer than ${timeoutMs / 1000} seconds`),
  );

  const find = (call: Call): Procedure<App> => {
    const procedure = procedures.get(call.path);
    if (!procedure) {
      const hint = call.path.includes(',') ? ': to call several, add batch=1 to the query' : '';
      throw new WireError('NOT_FOUND', `There is no procedure "${shown(call.path)}"${hint}`);
    }
    const { type, alsoPost } = procedure;
    if (type === 'subscription' && call.method === 'query') {
      throw new WireError(
        'METHOD_NOT_SUPPORTED',
        `${call.path} is a subscription: open it alone, as a stream of server-sent events`,
        { headers: { allow: 'GET' } },
      );
    }
    if (type !== call.method && !(alsoPost && call.method === 'mutation')) {
      const method = type === 'mutation' ? httpMethod.mutation : httpMethod.query;
      throw new WireError('METHOD_NOT_SUPPORTED', `Call ${call.path} with ${method}`, {
        headers: { allow: alsoPost ? 'GET, POST' : method },
      });
    }
    return procedure;
  };

  const countFailure = (path: string, code: ErrorCode, seconds: number): void => {
    const procedure = procedures.has(path) ? path : 'unknown';
    metrics.requests.inc({ procedure, code });
    metrics.requestSeconds.observe({ procedure }, seconds);
  };

  const refusal = (ctx: RequestContext<App>, path: string, error: unknown, seconds: number): Answer => {
    const { body, headers, unexpected } = failureOf(error);
    const log = ctx.app.log.child({ requestId: ctx.caller.requestId, procedure: shown(path) });
    if (unexpected) log.error({ err: error }, 'a call failed');
    else log.debug({ code: body.data.code, reason: body.message }, 'a call was refused');
    countFailure(path, body.data.code, seconds);
    return { status: body.data.httpStatus, outcome: { error: body }, headers };
  };

  return {
    weigh(calls) {
      const weight = calls.reduce((sum, { path }) => sum + (procedures.get(path)?.weight ?? 1), 0);
      if (weight <= MAX_BATCH_WEIGHT) return;
      throw new WireError(
        'BAD_REQUEST',
        `The calls of this batch have a weight of ${weight}, and the maximum is ${MAX_BATCH_WEIGHT}: send them in several batches`,
      );
    },
    async call(ctx, call, { response, isBatch }) {
      const started = performance.now();
      const seconds = () => (performance.now() - started) / 1000;
      try {
        const { run, countOk, ignored } = find(call);
        const { input, refusesUnknown } = call;
        const output = await deadline.within(run(ctx, input, { refusesUnknown }));
        const result = serialize(output);
        answers.take(response, result, result instanceof ReadyAnswer && !isBatch);
        countOk(seconds());
        const unknown = ignored(input());
        const headers = unknown.length > 0 ? { [IGNORED_HEADER]: ignoredHeader(unknown) } : NO_HEADERS;
        return { status: 200, outcome: { result }, headers };
      } catch (error) {
        return refusal(ctx, call.path, error, seconds());
      }
    },
    async refuse(ctx, { path, input }) {
      const started = performance.now();
      try {
        await deadline.within(procedures.get(path)?.admit(ctx) ?? Promise.resolve());
        input();
        return null;
      } catch (error) {
        return refusal(ctx, path, error, (performance.now() - started) / 1000);
      }
    },
    subscribe: async (ctx, call, signal) =>
      (await procedures.get(call.path)?.run(ctx, call.input, {
        signal,
        refusesUnknown: call.refusesUnknown,
      })) as AsyncIterable<unknown>,
  };
}

/** The part of a client's procedure name that is repeated in a message. */
function shown(path: string): string {
  return path.slice(0, 100).toWellFormed();
}

/**
 * A function that counts a successful call of the procedure. Finding the series by their labels costs 5 µs, so it is done
 * on the first call only.
 */
function counterOf(path: string, { requests, requestSeconds }: Metrics): Procedure<never>['countOk'] {
  let series: { count: Counter.Internal; time: Histogram.Internal<'procedure'> } | null = null;
  return (seconds) => {
    series ??= {
      count: requests.labels({ procedure: path, code: 'OK' }),
      time: requestSeconds.labels({ procedure: path }),
    };
    series.count.inc();
    series.time.observe(seconds);
  };
}

/** The prepared procedures by name. In a plain object, a procedure named `constructor` would be found. */
function proceduresOf<App extends Core>(
  router: AnyTRPCRouter,
  metrics: Metrics,
): ReadonlyMap<string, Procedure<App>> {
  return new Map(
    Object.entries<AnyTRPCProcedure>(router._def.procedures).map(([path, procedure]) => [
      path,
      { type: procedure._def.type, ...prepare<App>(path, procedure), countOk: counterOf(path, metrics) },
    ]),
  );
}
