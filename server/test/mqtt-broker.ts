import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectAsync, type MqttClient } from 'mqtt';

const PROGRAM = fileURLToPath(new URL('./mqtt-broker.js', import.meta.url));

/** A broker in a process of its own. */
export interface Broker extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Kills it. It forgets every session. */
  kill(): Promise<void>;
}

export const startBroker = async (port = 0, login: readonly string[] = []): Promise<Broker> => {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, String(port), ...login], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout ?? child, 'data');
  const listening = Number(String(line).trim());
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { port: listening, url: `mqtt://127.0.0.1:${listening}`, kill, [Symbol.asyncDispose]: kill };
};

/** A stock client, as a device uses one. */
export const connectDevice = (url: string): Promise<MqttClient> =>
  connectAsync(url, { clientId: `device-${Math.random().toString(36).slice(2)}`, reconnectPeriod: 100 });
