import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gantry, startGantry } from './harness.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../examples/python/report_events.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

let gantry: Gantry;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.stop());

describe.runIf(hasPython)('the example in Python', () => {
  const start = (environment: Record<string, string>) =>
    run('python3', [program], {
      env: { PATH: process.env.PATH, GANTRY_URL: gantry.url, ...environment } as NodeJS.ProcessEnv,
    });

  it('reports events, and reads them back', async () => {
    const key = await gantry.registerSensor();
    const { stdout } = await start({ GANTRY_KEY: key, GANTRY_TOKEN: await gantry.tokenFor('ADMIN') });
    expect(stdout.split('\n')).toEqual([
      'status: ONLINE',
      expect.stringMatching(/^event: [0-9a-f-]{36} stored once: True$/),
      'batch: 3 of 3 stored',
      'refused: BAD_REQUEST eventType',
      'found: 1 True',
      '',
    ]);
  });

  it('explains what is missing or refused', async () => {
    const stderr = (environment: Record<string, string>) =>
      start(environment).then(
        () => '',
        (error: { stderr: string }) => error.stderr,
      );
    expect(await stderr({})).toBe('Set GANTRY_KEY in the environment\n');
    expect(await stderr({ GANTRY_KEY: 'f'.repeat(64) })).toBe('401 Unauthorized: Invalid API key\n');
  });
});
