import { ingestInput } from '@gantry/contract/events';
import { initTRPC } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import superjson from 'superjson';
import { announce } from './announce.ts';

// The stock tRPC adapter with a procedure that validates its input and does nothing else.

const t = initTRPC.create({ transformer: superjson, isDev: false });

const router = t.router({
  events: t.router({
    ingest: t.procedure
      .input(ingestInput)
      .mutation(() => ({ success: true, eventId: '01a1fd99-c7b1-756d-92e4-f66a14308627' })),
  }),
});

announce(createHTTPServer({ router, basePath: '/trpc/' }));
