import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What the browser stories need: the built service and console, and a Chromium. Without one, and where none can be
// installed, they are skipped, and say so.

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = (command, args) => spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] }).status === 0;

for (const build of ['server/build.js', 'console/build.js']) {
  execFileSync(process.execPath, [build], { cwd: root, stdio: 'inherit' });
}
if (!existsSync(process.env.CHROMIUM ?? '/usr/bin/chromium') && process.getuid?.() === 0) {
  process.stdout.write('Installing Chromium …\n');
  const install = () => run('apt-get', ['install', '--yes', '--no-install-recommends', 'chromium']);
  if (!install() && run('apt-get', ['update'])) install();
}
