import type { Worker } from 'node:cluster';

interface Closable {
  close(): void;
}

const isClosable = (handle: unknown): handle is Closable =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';

const handsOver = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn';

/**
 * Closes the connection that the primary was handing to a worker when it died. Node forgets it (seen in 20 and 24),
 * and its client would wait for an answer for ever; closing one that did arrive changes nothing.
 */
export const closeHandedConnection = ({ process }: Worker): void => {
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  let handed: Closable | null = null;
  process.send = (...args: unknown[]): boolean => {
    const [message, handle] = args;
    if (handsOver(message) && isClosable(handle)) handed = handle;
    return send(...args);
  };
  process.once('exit', () => handed?.close());
};
