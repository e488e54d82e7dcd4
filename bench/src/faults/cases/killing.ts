import { setTimeout as sleep } from 'node:timers/promises';
import { BenchmarkFailed } from '../../failure.ts';
import type { Fault } from '../fault.ts';
import { signalTree } from '../processes.ts';

/** Time after which a supervisor would restart the service, in milliseconds. */
const SUPERVISOR_MS = 500;

/** Loaded into the service: SIGUSR2 blocks its event loop for as long as it lives. */
const BLOCKING = `data:text/javascript,process.on('SIGUSR2',()=>{const a=new%20Int32Array(new%20SharedArrayBuffer(4));for(;;)Atomics.wait(a,0,0,20)})`;

/** Within which a service with a blocked event loop ends, in milliseconds. */
const BLOCKED_MS = 30_000;

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
    isQuick: true,
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
    options: { nodeArguments: ['--import', BLOCKING] },
    async run({ target }) {
      target.signal('SIGUSR2');
      const deadline = performance.now() + BLOCKED_MS;
      while (target.pid !== null) {
        if (performance.now() > deadline)
          throw new BenchmarkFailed('The service with a blocked event loop did not end by itself');
        await sleep(50);
      }
      await sleep(SUPERVISOR_MS);
      await target.start();
    },
  },
];
