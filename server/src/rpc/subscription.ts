import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorBody } from '@gantry/contract/envelope';
import type { Permission } from '@gantry/contract/permissions';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { Core, RequestContext } from '../platform/context.ts';
import type { Call, Dispatcher } from './dispatch.ts';
import { failureOf } from './errors.ts';
import { writeFrames } from './event-stream.ts';
import type { ProcedureMeta } from './procedure.ts';
import type { Target } from './request.ts';

/** A stream to which nothing could be written for this long (ms) has lost its client: a message is sent every 10 s. */
const STUCK_MS = 45_000;

/** The names of the procedures that are subscriptions. */
export function subscriptionsOf(router: AnyTRPCRouter): ReadonlySet<string> {
  return new Set(
    Object.entries<AnyTRPCProcedure>(router._def.procedures).flatMap(([path, procedure]) =>
      procedure._def.type === 'subscription' ? [path] : [],
    ),
  );
}

/** The permission that a procedure requires, if it requires one. */
export function permissionOf(procedure: AnyTRPCProcedure): Permission | undefined {
  return (procedure._def.meta as ProcedureMeta | undefined)?.permission;
}

/** Whether the client accepts only server-sent events. */
export function isEventSource({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/event-stream') ?? false;
}

/** The headers of a stream in addition to the common ones. */
export const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  vary: 'trpc-accept, accept',
  'x-accel-buffering': 'no',
};

/** A request for a stream and its response. */
export interface Subscribing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly call: Call;
}

/**
 * Closes the stream when the client closes its side of the connection. Such a client can still read an answer, but has
 * usually left, which would otherwise be noticed with the second message that is sent to it.
 */
function closeWithClient({ socket }: IncomingMessage, response: ServerResponse): void {
  const close = () => response.destroy();
  if (socket.readableEnded) close();
  socket.once('end', close);
  response.once('close', () => socket.off('end', close));
}

/** Opens a subscription. @returns its server-sent events, of which a refusal is one as well */
export async function openSubscription<App extends Core>(
  dispatcher: Dispatcher<App>,
  ctx: RequestContext<App>,
  { about, ending }: { readonly about: object; readonly ending: AbortSignal },
  subscribing: Subscribing,
): Promise<AsyncIterable<string>> {
  const messages = await subscribe(dispatcher, ctx, ending, subscribing).catch(failing);
  const describe = (error: unknown): ErrorBody => describeFailure(ctx, subscribing.call.path, error);
  return writeFrames({ about, messages, describe });
}

/**
 * Opens a subscription that ends when the client has left.
 * @returns its messages
 * @throws the errors of `Dispatcher.subscribe`
 */
export function subscribe<App extends Core>(
  dispatcher: Dispatcher<App>,
  ctx: RequestContext<App>,
  ending: AbortSignal,
  { request, response, target, call }: Subscribing,
): Promise<AsyncIterable<unknown>> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  closeWithClient(request, response);
  closeWhenStuck(response, ending, ctx.app.timings.farewellMs);
  const input = () => withLastEventId(call.input(), lastEventIdOf(request, target));
  return dispatcher.subscribe(ctx, { ...call, input }, left.signal);
}

/** The body of the error with which a stream ends. An internal error is logged. */
export function describeFailure<App extends Core>(
  { app, caller: { requestId } }: RequestContext<App>,
  procedure: string,
  error: unknown,
): ErrorBody {
  const { body, unexpected } = failureOf(error);
  if (unexpected) app.log.error({ err: error, requestId, procedure }, 'a call failed');
  return body;
}

/** Closes the connection if the client has stopped reading, or does not read the last message. */
function closeWhenStuck(response: ServerResponse, draining: AbortSignal, farewellMs: number): void {
  response.setTimeout(STUCK_MS, () => response.destroy());
  const farewell = () => void sleep(farewellMs, undefined, { ref: false }).then(() => response.destroy());
  draining.addEventListener('abort', farewell, { once: true });
  response.once('close', () => draining.removeEventListener('abort', farewell));
}

/** The id for resuming: an EventSource sends it in a header, other clients may put it into the address. */
function lastEventIdOf({ headers }: IncomingMessage, { query }: Target): string | undefined {
  const inHeader = headers['last-event-id'];
  if (typeof inHeader === 'string' || query === '') return inHeader?.toString();
  const { lastEventId, 'Last-Event-Id': spelledAsHeader } = parseQuery(query);
  return [lastEventId ?? spelledAsHeader].flat()[0];
}

/** Adds the id to the input, as tRPC does. */
function withLastEventId(input: unknown, lastEventId: string | undefined): unknown {
  if (!lastEventId) return input;
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? { ...input, lastEventId } : (input ?? { lastEventId });
}

function failing(error: unknown): AsyncIterable<never> {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
  };
}
