import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BenchmarkFailed } from '../failure.ts';
import { root } from '../root.ts';

const BUILT = 'bench/dist/peers';
/** Defines `require` in a bundle, with which bundled CommonJS packages load the modules of Node.js. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

/** A server that `events.ingest` is compared with. */
export type PeerName = 'floor' | 'stock' | 'insert';

/** A server for comparison with Gantry, in a process of its own. */
export interface Peer {
  readonly url: string;
  readonly pid: number;
  /** Resident memory in megabytes. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Builds the peers in the same way as Gantry (server/build.js), so that none has the overhead of a loader.
 */
export async function buildPeers(): Promise<void> {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: ['floor', 'stock', 'insert', 'images'].map((name) => `bench/src/ingest/peers/${name}.ts`),
    outdir: BUILT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['pg-native'],
    banner: { js: REQUIRE },
    alias: { '@gantry/contract': './contract/src' },
    logLevel: 'warning',
  });
}

/**
 * Starts a peer, whose source is the file of its name in `peers/`, and waits until it listens.
 * @param argument passed to it as JSON
 * @throws BenchmarkFailed when it ends before that
 */
export async function startPeer(name: PeerName | 'images', argument: unknown = {}): Promise<Peer> {
  const child = fork(join(root, BUILT, `${name}.js`), [JSON.stringify(argument)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [message] = await Promise.race([once(child, 'message'), ended]);
  const port: unknown = message?.port;
  if (typeof port !== 'number') throw new BenchmarkFailed(`The peer ${name} did not start`);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? Number.NaN,
    memory: async () => {
      const answer = once(child, 'message');
      child.send('memory');
      const [{ memory }] = await answer;
      return memory / 1e6;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
