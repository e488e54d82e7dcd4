import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Prepares the browser tests: builds the service and the console, and installs Chromium if it can. Without Chromium,
// the tests are skipped with a message.

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = (command, args) => spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] }).status === 0;

for (const build of ['server/build.js', 'console/build.js']) {
  execFileSync(process.execPath, [build], { cwd: root, stdio: 'inherit' });
}
// The service once more, with intervals that the stories shorten (service.ts).
const programs = "import('./server/test/build-programs.ts').then(({ buildPrograms }) => buildPrograms())";
execFileSync(process.execPath, ['--import', 'tsx', '--eval', programs], { cwd: root, stdio: 'inherit' });
// The headless shell takes a third less processor time, so it is installed even if there is a Chromium.
if (!process.env.CHROMIUM && process.getuid?.() === 0 && !existsSync('/usr/bin/chromium-headless-shell')) {
  process.stdout.write('Installing the headless shell of Chromium …\n');
  const limits = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20'];
  const install = (name) => run('apt-get', [...limits, 'install', '--yes', '--no-install-recommends', name]);
  const hasShell =
    install('chromium-headless-shell') ||
    (run('apt-get', [...limits, 'update']) && install('chromium-headless-shell'));
  if (!hasShell && !existsSync('/usr/bin/chromium')) install('chromium');
}
