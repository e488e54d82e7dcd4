import { setTimeout as sleep } from 'node:timers/promises';
import { BenchmarkFailed } from '../../failure.ts';
import type { Fault } from '../fault.ts';
import { signalTree } from '../processes.ts';
import type { Target } from '../target.ts';

/** Time after which a supervisor would restart the service, in milliseconds. */
const SUPERVISOR_MS = 500;

const importing = (program: string): string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(program)}`,
];
const BLOCK = 'const a = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(a, 0, 0, 20);';

/** Loaded into the service: SIGUSR2 blocks its event loop for as long as it lives. */
const BLOCKED_BY_SIGNAL = importing(`process.on('SIGUSR2', () => { ${BLOCK} })`);

/** Loaded into the service: an expression that is applied to exactly this text blocks the event loop. */
const POISON = 'POISON';
const BLOCKED_BY_POISON = importing(`
  const { exec } = RegExp.prototype;
  RegExp.prototype.exec = function (text) {
    if (text === '${POISON}') { ${BLOCK} }
    return exec.call(this, text);
  }`);

/** Within which a service with a blocked event loop ends, in milliseconds. */
const BLOCKED_MS = 30_000;

/** How often a message is taken before it is given up, and within which it is taken again, in milliseconds. */
const MAX_TAKEN = 3;
const TAKEN_MS = 60_000;

/** Waits until the service has ended by itself. @throws BenchmarkFailed if it does not */
async function untilItEnds(target: Target, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (target.pid !== null) {
    if (performance.now() > deadline)
      throw new BenchmarkFailed('The service with a blocked event loop did not end by itself');
    await sleep(50);
  }
}

export const killing: readonly Fault[] = [
  {
    name: 'kill-service',
    title: 'service killed (kill -9) under load, three times',
    recoversWithin: 10,
    isQuick: false,
    async run({ target, random }) {
      for (let time = 0; time < 3; time++) {
        await target.kill();
        await sleep(SUPERVISOR_MS);
        await target.start();
        await sleep(200 + random() * 800);
      }
    },
  },
  {
    name: 'kill-both',
    title: 'service and database killed (kill -9) at once',
    recoversWithin: 30,
    isQuick: false,
    async run({ target, postmaster }) {
      const database = await postmaster();
      await signalTree(database, 'SIGKILL');
      await target.kill();
      await sleep(SUPERVISOR_MS);
      await target.start();
    },
  },
  {
    name: 'before-answer',
    title: 'service killed between COMMIT and the answer',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ target, databaseProxy }) {
      for (let time = 0; time < 3; time++) {
        // The statement reaches the database, which commits; the service is killed before it receives the answer.
        if (databaseProxy) databaseProxy.mode = 'muteAnswers';
        await sleep(400);
        await target.kill();
        databaseProxy?.cut();
        if (databaseProxy) databaseProxy.mode = 'pass';
        await target.start();
        await sleep(500);
      }
    },
  },
  {
    name: 'lost-answer',
    title: 'answers to devices lost on the way',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ deviceProxy }) {
      for (let time = 0; time < 4; time++) {
        if (deviceProxy) deviceProxy.mode = 'muteAnswers';
        await sleep(400);
        deviceProxy?.cut();
        if (deviceProxy) deviceProxy.mode = 'pass';
        await sleep(400);
      }
    },
  },
  {
    name: 'freeze-service',
    title: 'service stopped by SIGSTOP for 50 s',
    recoversWithin: 10,
    isQuick: false,
    async run({ target, onEnd }) {
      onEnd(() => target.signal('SIGCONT'));
      target.signal('SIGSTOP');
      await sleep(50_000);
      target.signal('SIGCONT');
    },
  },
  {
    name: 'blocked-loop',
    title: 'event loop of the service blocked for ever, and restarted by its supervisor',
    recoversWithin: 10,
    isQuick: false,
    options: { nodeArguments: BLOCKED_BY_SIGNAL },
    async run({ target }) {
      target.signal('SIGUSR2');
      await untilItEnds(target, BLOCKED_MS);
      await sleep(SUPERVISOR_MS);
      await target.start();
    },
  },
  {
    name: 'poison-message',
    title: 'message of a device that blocks the event loop whenever it is read',
    recoversWithin: 10,
    isQuick: false,
    options: { nodeArguments: BLOCKED_BY_POISON },
    async run({ target, client, breach }) {
      const sensors = await client.api.sensors.getAllSensors.query();
      const sensorId = sensors[0]?.id ?? '';
      const { id: connectionId, url } = await client.api.connections.create.mutate({
        sensorId,
        format: 'ops243',
      });
      const address = `${target.url}${new URL(url).pathname}`;
      const send = async (body: string): Promise<void> => {
        const headers = { 'content-type': 'text/plain' };
        const answer = await fetch(address, { method: 'POST', headers, body });
        if (answer.status !== 200) breach(`a message was answered ${answer.status}`);
      };
      const messages = async () =>
        (await client.api.connections.getMessages.query({ connectionId })).messages;

      const untilRead = async (): Promise<void> => {
        const deadline = performance.now() + TAKEN_MS;
        while ((await messages()).some(({ status }) => status === 'RECEIVED') && performance.now() < deadline)
          await sleep(200);
      };

      await send('A+050');
      await untilRead();
      // The answer may not leave before the event loop is blocked.
      await send(`A+051\n${POISON}`).catch(() => undefined);
      for (let time = 1; time <= MAX_TAKEN; time++) {
        await untilItEnds(target, BLOCKED_MS + TAKEN_MS);
        await sleep(SUPERVISOR_MS);
        await target.start();
      }
      await send('A+052');
      await untilRead();
      const found = (await messages()).map(({ status, reason }) => ({ status, reason }));
      const givenUp = found.filter(({ status }) => status === 'FAILED');
      const isSo =
        found.filter(({ status }) => status === 'STORED').length === 2 &&
        givenUp.length === 1 &&
        /began to process it 3 times/.test(givenUp[0]?.reason ?? '');
      if (!isSo) breach(`the messages of the connection are ${JSON.stringify(found)}`);
    },
  },
];
