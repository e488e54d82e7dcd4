import type { Worker } from 'node:cluster';

interface Closable {
  close(): void;
}

/**
 * Closes the connection that the primary was passing to a worker when the worker died. Node forgets it (seen in 20
 * and 24), and its client would wait forever; closing one that did arrive has no effect.
 */
export function closeHandedConnection({ process }: Worker): void {
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  let handed: Closable | null = null;
  process.send = (...args: unknown[]): boolean => {
    const [message, handle] = args;
    if (handsOver(message) && isClosable(handle)) handed = handle;
    return send(...args);
  };
  process.once('exit', () => handed?.close());
}

function isClosable(handle: unknown): handle is Closable {
  return (
    typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'
  );
}

function handsOver(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn';
}
