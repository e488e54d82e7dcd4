import { isBlockedPort } from '@gantry/contract/blocked-ports';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { logWelcome, welcome } from '../src/system/welcome.ts';

describe('a port that browsers refuse', () => {
  const parts = {
    config: { NODE_ENV: 'production' },
    service: { firstAdministrator: null },
    url: 'http://127.0.0.1:4190',
  } as const;
  const warning = /^ *Browsers refuse to connect to port 4190, so the console cannot be opened there/;

  it('is reported at the start, on a terminal and in the log', () => {
    const records: { level: number; msg: string }[] = [];
    const log = pino({ level: 'error' }, { write: (line) => records.push(JSON.parse(line)) });
    logWelcome(parts, log);
    expect(records.map(({ level }) => level)).toEqual([30, 40]);
    expect(records[1]?.msg).toMatch(warning);
    expect(welcome(parts).filter((line) => warning.test(line))).toHaveLength(1);
    expect(welcome({ ...parts, url: 'http://127.0.0.1:4000' }).join()).not.toContain('Browsers');
  });

  it('is refused by fetch, too', async () => {
    const isRefused = (port: number) =>
      fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(1) }).catch(
        ({ cause }) => cause?.message,
      );
    const blocked = Array.from({ length: 65_536 }, (_, port) => port).filter(isBlockedPort);
    expect(blocked.length).toBeGreaterThan(80);
    for (const port of blocked) expect(await isRefused(port)).toBe('bad port');
  });
});
