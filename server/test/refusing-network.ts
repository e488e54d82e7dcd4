import { once } from 'node:events';
import { type AddressInfo, createServer, connect as openConnection, type Socket } from 'node:net';

/** A port of this machine that leads to a server and can refuse connections, like a server that was stopped. */
export interface RefusingNetwork extends AsyncDisposable {
  /** The same database, reached through this port. */
  readonly url: string;
  /** Closes all connections and refuses new ones. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

export const startRefusingNetwork = async (url: string): Promise<RefusingNetwork> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((near) => {
    const far = openConnection({ port: Number(target.port), host: target.hostname });
    keep(near, far);
    keep(far, near);
    near.pipe(far);
    far.pipe(near);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String(port);
  return { url: own.href, refuse, accept: () => listen(port), [Symbol.asyncDispose]: refuse };
};
