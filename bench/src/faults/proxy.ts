import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a proxy does with data. `pass`: forwards it. `hold`: forwards nothing until the mode changes, so that both sides wait,
 * as on a stalled link. `swallow`: drops it in both directions, as on a half-open connection; affected connections stay
 * half-open. `muteAnswers`: forwards what the client sends and drops the answers.
 */
export type ProxyMode = 'pass' | 'hold' | 'swallow' | 'muteAnswers';

/** A TCP proxy on loopback whose connections can be disturbed. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  mode: ProxyMode;
  /** Delay of every chunk in both directions, in milliseconds. */
  delayMs: number;
  /** Resets all open connections. */
  cut(): void;
}

/** Starts a proxy. @param pickTarget returns the target port for the next connection; null refuses it */
export async function startProxy(pickTarget: () => number | null): Promise<TcpProxy> {
  const open = new Set<Socket>();
  /** Both ends of connections that became half-open. */
  const halfOpen = new WeakSet<Socket>();
  /** Target sockets whose further answers are dropped, because a partial answer would be misread. */
  const muted = new WeakSet<Socket>();
  let mode: ProxyMode = 'pass';
  let delayMs = 0;

  const forward = (from: Socket, to: Socket, isAnswer: boolean): void => {
    // Each chunk waits for the previous one, so that their order is kept when the delay changes.
    let last: Promise<unknown> = Promise.resolve();
    from.on('data', (chunk) => {
      if (mode === 'swallow') {
        halfOpen.add(from);
        halfOpen.add(to);
      }
      if (mode === 'muteAnswers' && isAnswer) muted.add(from);
      if (halfOpen.has(from) || muted.has(from)) return;
      const due = performance.now() + delayMs;
      last = last.then(async () => {
        while (mode === 'hold' && !from.destroyed) await sleep(20);
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.on('close', () => {
      open.delete(from);
      // The other end of a half-open connection never learns that it is closed.
      if (!halfOpen.has(from)) void last.then(() => to.destroy());
    });
    from.on('error', () => undefined);
  };

  const server = createServer((client) => {
    const port = pickTarget();
    if (port === null) {
      client.destroy();
      return;
    }
    const target = connect(port, '127.0.0.1');
    open.add(client);
    open.add(target);
    forward(client, target, false);
    forward(target, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
    open.clear();
  };

  return {
    port: (server.address() as AddressInfo).port,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
    },
    get delayMs() {
      return delayMs;
    },
    set delayMs(next) {
      delayMs = next;
    },
    cut,
    async [Symbol.asyncDispose]() {
      mode = 'pass';
      server.close();
      cut();
    },
  };
}
