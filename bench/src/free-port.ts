import { once } from 'node:events';
import { createServer } from 'node:net';
import { BenchmarkFailed } from './failure.ts';

/** A free port on loopback. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new BenchmarkFailed('There is no free port');
  return address.port;
}
