import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { hasErrno } from './errno.ts';
import { EmbeddedDatabaseError } from './home.ts';

/**
 * Below the ports that systems assign to outgoing connections. Otherwise a client that reconnects while the server is
 * down may be assigned the server's own port and prevent it from starting.
 */
const LOWEST = 15_000;
const HIGHEST = 31_999;

/** An unused port of the loopback address. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isPortFree(port)) return port;
  }
  throw new EmbeddedDatabaseError(`No free port for PostgreSQL was found between ${LOWEST} and ${HIGHEST}.`);
}

/** Whether a server can listen on this port of the loopback address. */
async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (hasErrno(error, 'EADDRINUSE', 'EACCES')) return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
