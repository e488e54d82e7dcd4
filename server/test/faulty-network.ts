import { once } from 'node:events';
import { type AddressInfo, createServer, connect as openConnection, type Socket } from 'node:net';

/** A TCP proxy in front of a database server whose connections can be disturbed. */
export interface FaultyNetwork extends AsyncDisposable {
  /** The address of the same database through the proxy. */
  readonly url: string;
  /** From now on, nothing that is sent on existing connections arrives, and neither end learns of it. */
  swallow(): void;
  /** From now on, new connections work. Nothing that is sent on the existing ones arrives any more. */
  letNewOnesThrough(): void;
  /** Cuts every connection. */
  cut(): void;
}

/** Listens on a port of this machine and forwards everything to the server that `url` names. */
export const startFaultyNetwork = async (url: string): Promise<FaultyNetwork> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    let isDead = false;
    from.on('data', (bytes) => {
      isDead ||= isSwallowing || dead.has(from);
      if (!isDead) to.write(bytes);
    });
    from.on('end', () => !dead.has(from) && !isSwallowing && to.end());
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!dead.has(from) && !isSwallowing) to.destroy();
    });
  };
  const dead = new WeakSet<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = openConnection({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    pass(near, far);
    pass(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: own.href,
    swallow() {
      isSwallowing = true;
    },
    letNewOnesThrough() {
      isSwallowing = false;
      for (const socket of sockets) dead.add(socket);
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
};
