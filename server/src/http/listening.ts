import { once } from 'node:events';
import { createServer } from 'node:net';

interface Place {
  readonly HOST: string;
  readonly PORT: number;
}

/** What each error code of a failure to listen means, and what to do. */
const REFUSALS: Readonly<Record<string, (place: Place) => string>> = {
  EADDRINUSE: ({ HOST, PORT }) =>
    `PORT ${PORT} is taken by another program on ${HOST}: stop that program, or choose another PORT`,
  EACCES: ({ PORT }) => `PORT ${PORT} may not be used by this user: choose one from 1024`,
  EADDRNOTAVAIL: ({ HOST }) =>
    `HOST ${HOST} is no address of this machine: choose one of its addresses, or 0.0.0.0 for all`,
  ENOTFOUND: ({ HOST }) =>
    `HOST ${HOST} is an unknown name: choose an address of this machine, or 0.0.0.0 for all`,
};

/** The error for an address that cannot be listened on. The message names the setting and says what to do. */
export function explainListening(cause: unknown, place: Place): Error {
  const explain = REFUSALS[(cause as NodeJS.ErrnoException | null)?.code ?? ''];
  const { HOST, PORT } = place;
  const message = explain?.(place) ?? `HOST ${HOST} with PORT ${PORT} cannot be listened on: choose others`;
  return new Error(message, { cause });
}

/**
 * Makes sure that the address can be listened on, before anything is started for it.
 * @throws Error that names the setting
 */
export async function requireFreePort(place: Place): Promise<void> {
  if (place.PORT === 0) return;
  const server = createServer();
  try {
    await once(server.listen({ host: place.HOST, port: place.PORT }), 'listening');
  } catch (cause) {
    throw explainListening(cause, place);
  }
  server.close();
  await once(server, 'close');
}
