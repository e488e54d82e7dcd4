import type { Server } from 'node:http';

/**
 * Listens on a free port, reports it to the parent process, answers every message of the parent with the resident memory in
 * bytes, and ends with the parent.
 */
export function announce(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
  });
  process.on('message', () => process.send?.({ memory: process.memoryUsage.rss() }));
  process.once('disconnect', () => process.exit(0));
}
