import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

export const network: readonly Fault[] = [
  {
    name: 'cut',
    title: 'connections to the database and to devices reset, again and again',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ databaseProxy, deviceProxy, random }) {
      for (let time = 0; time < 12; time++) {
        (random() < 0.6 ? databaseProxy : deviceProxy)?.cut();
        await sleep(100 + random() * 500);
      }
    },
  },
  {
    name: 'half-open',
    title: 'connections to the database half-open: data is lost without an error',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ databaseProxy }) {
      // Connections that carry data now stay half-open, and their clients do not learn of it; later connections work.
      if (databaseProxy) databaseProxy.mode = 'swallow';
      await sleep(3_000);
      if (databaseProxy) databaseProxy.mode = 'pass';
    },
  },
  {
    name: 'stall',
    title: 'the link to the database stalled for 12 s',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ databaseProxy }) {
      if (databaseProxy) databaseProxy.mode = 'hold';
      await sleep(12_000);
      if (databaseProxy) databaseProxy.mode = 'pass';
    },
  },
  {
    name: 'delay',
    title: 'every packet to and from the database 150 ms late for 6 s',
    recoversWithin: 10,
    isQuick: false,
    proxies: true,
    async run({ databaseProxy }) {
      if (databaseProxy) databaseProxy.delayMs = 150;
      await sleep(6_000);
      if (databaseProxy) databaseProxy.delayMs = 0;
    },
  },
];
