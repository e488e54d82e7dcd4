import { initTRPC, tracked } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { describe, expect, it } from 'vitest';
import { writeFrames } from '../src/rpc/event-stream.ts';
import { transformer } from '../src/rpc/output.ts';

// The frames are compared with those of tRPC's own producer for the same messages.

const about = { reconnectAfterInactivityMs: 30_000 };
const body = { message: 'No', code: -32_600, data: { code: 'BAD_REQUEST', httpStatus: 400 } };

const t = initTRPC.create({
  transformer,
  isDev: false,
  sse: { client: about },
  errorFormatter: () => body,
});

const ofTrpc = async (messages: () => AsyncGenerator<unknown>): Promise<string> => {
  const router = t.router({ stream: t.procedure.subscription(messages) });
  const req = new Request('http://localhost/trpc/stream', { headers: { accept: 'text/event-stream' } });
  return (await fetchRequestHandler({ endpoint: '/trpc', router, req })).text();
};

const ofOurs = async (messages: () => AsyncGenerator<unknown>): Promise<string> => {
  let text = '';
  for await (const frame of writeFrames({ about, messages: messages(), describe: () => body })) text += frame;
  return text;
};

const event = {
  id: 'e',
  timestamp: new Date('2026-01-02T03:04:05.678Z'),
  metadata: { 'a.b': { c: [1, null, 'Grüße\n\u2028'] }, constructor: 'x' },
  missing: undefined,
};
const message = { type: 'event', event };

const cases: [string, () => AsyncGenerator<unknown>][] = [
  [
    'messages with ids, one of them twice',
    async function* () {
      yield tracked('1.2.3.4', message);
      yield tracked('1.2.4.4', { type: 'upToDate', at: new Date(0) });
      yield tracked('1.2.5.4', message);
    },
  ],
  [
    'messages without ids',
    async function* () {
      yield new Date(0);
      yield 'text';
      yield { plain: [true, new Date(1)] };
    },
  ],
  ['nothing', async function* () {}],
  [
    'a failure after a message',
    async function* () {
      yield tracked('7', message);
      throw new Error('gone');
    },
  ],
];

describe('the frames of a stream', () => {
  it.each(cases)("equal those of tRPC's producer, for %s", async (_, messages) => {
    const text = await ofOurs(messages);
    expect(text).toBe(await ofTrpc(messages));
    expect(text).toMatch(/^event: connected\ndata: \{"reconnectAfterInactivityMs":30000\}\n\n\n/);
  });
});
