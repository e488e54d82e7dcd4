import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../npm/manifests.ts';
import { commandsOf } from './commands.ts';
import { PAGES, WAYS } from './ways.ts';

// npm run walk:docs runs the commands that the documents of the repository tell their readers to enter, with a data folder of
// its own; those that install packages, in a project that is empty at first. It exits with 1 if a command fails, or if ways.ts does not say how a command is tried.

const MAX_MS = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'gantry-walk-'));
const environment = { ...process.env, DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'warn' };
const failures: string[] = [];
/** An empty project of a user, beside the files of the packages. */
const project = join(folder, 'project');

const say = (outcome: string, command: string, more = ''): void => {
  process.stdout.write(`${outcome.padEnd(7)} ${command.replaceAll(/\s+/g, ' ').slice(0, 100)}${more}\n`);
  if (outcome === 'FAILED') failures.push(command);
};

/** Starts the service with a command. @returns its URL, its output, and a function that stops it and returns whether it exited with 0 */
async function serve(command: string, cwd: string = root) {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = once(child, 'exit');
  const deadline = performance.now() + MAX_MS;
  const urlOf = (): string => /listens on ([^\s"]+)/.exec(printed)?.[1] ?? '';
  while (urlOf() === '' && child.exitCode === null && performance.now() < deadline) await sleep(100);
  const stop = async (): Promise<boolean> => {
    child.kill('SIGTERM');
    const [code] = await ended;
    return code === 0;
  };
  return { url: urlOf(), printed: () => printed, stop };
}

/** Runs the session of a page against the service at `url`, and compares the answers with those in the page. */
function runSession(
  page: string,
  session: readonly { command: string; output: string }[],
  url: string,
): void {
  const mark = '--- end of a command ---';
  const script = session.map(({ command }) => `${command}\necho; echo '${mark}'`).join('\n');
  const { stdout } = spawnSync('bash', ['-c', script.replaceAll('localhost:4000', new URL(url).host)], {
    cwd: folder,
    encoding: 'utf8',
    timeout: MAX_MS,
  });
  const answers = stdout.split(mark);
  for (const [index, { command, output }] of session.entries()) {
    // Ids and times differ between runs, so only the names of the members are compared.
    const shapeOf = (text: string): string =>
      [...text.matchAll(/"(\w+)":/g)]
        .map(([, name]) => name)
        .sort()
        .join(' ');
    const isSame = shapeOf(answers[index] ?? '') === shapeOf(output);
    say(
      isSame ? 'passed' : 'FAILED',
      `${page}: ${command}`,
      isSame ? '' : `\n        answer: ${answers[index]?.trim()}`,
    );
  }
}

const wayOf = (command: string) => WAYS.find(([pattern]) => pattern.test(command))?.[1];

async function walkCommand(command: string): Promise<void> {
  const way = wayOf(command);
  if (!way) return say('FAILED', command, ' (add to deploy/walk/ways.ts how it is tried)');
  if (way.how === 'skip') return say('skipped', command, `: ${way.why}`);
  // The dependencies are already installed, and installing them again would disturb other programs that use this folder.
  const real = ('instead' in way && way.instead ? way.instead : command)
    .replace(/^npm ci(?: --omit=dev)? && /, '')
    .replace(/^gantry /, 'node server/bin/gantry.cjs ');
  if (way.how === 'serve') {
    const service = await serve(real, way.inProject ? project : root);
    const isReady = service.url !== '' && (await fetch(`${service.url}/ready`)).ok;
    const hasStopped = await service.stop();
    return say(
      isReady && hasStopped ? 'passed' : 'FAILED',
      command,
      isReady && hasStopped ? '' : service.printed().slice(-500),
    );
  }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', real], {
    cwd: way.how === 'project' ? project : root,
    env: environment,
    encoding: 'utf8',
    timeout: MAX_MS,
  });
  const isExpected = (('codes' in way && way.codes) || [0]).includes(status ?? -1);
  say(
    isExpected ? 'passed' : 'FAILED',
    command,
    isExpected ? '' : ` (${status}) ${stdout.slice(-300)}${stderr.slice(-500)}`,
  );
}

const walks = PAGES.map((page) => ({ page, ...commandsOf(readFileSync(join(root, page), 'utf8')) }));
try {
  const service = await serve('npm start');
  for (const { page, session } of walks) if (session.length > 0) runSession(page, session, service.url);
  if (!(await service.stop())) say('FAILED', 'npm start', ' (it did not shut down cleanly)');
  const commands = [...new Set(walks.flatMap((walk) => walk.commands))];
  const isInProject = (command: string): boolean => {
    const way = wayOf(command);
    return way?.how === 'project' || (way?.how === 'serve' && way.inProject === true);
  };
  for (const command of commands.filter((each) => !isInProject(each))) await walkCommand(command);
  mkdirSync(project);
  for (const name of readdirSync(join(root, 'dist/npm')).filter((each) => each.endsWith('.tgz')))
    cpSync(join(root, 'dist/npm', name), join(project, name));
  const inProject = commands.filter(isInProject);
  const isInstallation = (command: string): boolean => command.startsWith('npm install');
  for (const command of inProject.filter(isInstallation)) await walkCommand(command);
  for (const command of inProject.filter((each) => !isInstallation(each))) await walkCommand(command);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
process.stdout.write(
  failures.length === 0 ? 'Every command works or says why not.\n' : `${failures.length} failed.\n`,
);
process.exit(failures.length === 0 ? 0 : 1);
