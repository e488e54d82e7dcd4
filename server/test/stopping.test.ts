import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { spawnService, untilItServes } from './service-process.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gantry-stopping-'));
// PostgreSQL's user, who is another one when this runs as root, must get through.
chmodSync(scratch, 0o711);
afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

describe('a service that fails while it stops', () => {
  it('says so, and not that it cannot start', async () => {
    const dataDir = join(scratch, 'data');
    const service = await untilItServes(spawnService(scratch, { DATA_DIR: dataDir }));
    const claim = readdirSync(dataDir).find((name) => name.startsWith('claim-')) ?? '';
    rmSync(join(dataDir, claim));
    // A folder in its place cannot be removed as the claim is.
    mkdirSync(join(dataDir, claim));
    expect(await service.stop()).toBe(1);
    expect(service.output()).toMatch(/Gantry did not stop in order\..*\n {2}because: .*claim-/);
    expect(service.output()).not.toContain('cannot start');
  });
});
