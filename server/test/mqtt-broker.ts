import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';

const PROGRAM = fileURLToPath(new URL('./mqtt-broker.js', import.meta.url));

/** A broker that runs in a process of its own. */
export interface Broker extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Kills the broker, which loses all sessions. */
  kill(): Promise<void>;
}

/** @param certificates a folder of certificates for TLS, as mqtt-broker.js reads them */
export const startBroker = async (
  port = 0,
  login: readonly string[] = [],
  certificates?: string,
): Promise<Broker> => {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, String(port), ...login], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(certificates !== undefined && { MQTT_BROKER_TLS: certificates }) },
  });
  const [line] = await once(child.stdout ?? child, 'data');
  const listening = Number(String(line).trim());
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const protocol = certificates === undefined ? 'mqtt' : 'mqtts';
  return { port: listening, url: `${protocol}://127.0.0.1:${listening}`, kill, [Symbol.asyncDispose]: kill };
};

/** A stock client, as a device uses one. */
export const connectDevice = (url: string, options: IClientOptions = {}): Promise<MqttClient> =>
  connectAsync(url, {
    ...options,
    clientId: `device-${Math.random().toString(36).slice(2)}`,
    reconnectPeriod: 100,
  });
