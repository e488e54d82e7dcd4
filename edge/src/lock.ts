import { link, mkdir, readFile, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a claim is tried, and the longest time of one in which it removes that of a dead process, in milliseconds. */
const ATTEMPTS = 20;
const TURN_MS = 100;

/** Another process uses the folder. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/**
 * Claims a folder for this process until disposed. The claim of a process that has died is taken over.
 * @throws FolderInUse
 */
export async function claimFolder(folder: string): Promise<AsyncDisposable> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'owner');
  // The claim appears with its content, so that nobody takes it for one without an owner.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${process.pid} ${(await startTimeOf(process.pid)) ?? ''}`);
  try {
    for (let attempt = 0; !(await succeeds(link(draft, path))); attempt++) {
      const claim = await readClaim(path);
      if (claim?.isRunning || attempt === ATTEMPTS) {
        throw new FolderInUse(
          `The folder ${folder} is used by process ${claim?.pid ?? '?'}: give each device a folder of its own`,
        );
      }
      await removeDead(path);
    }
  } finally {
    await unlink(draft);
  }
  return { [Symbol.asyncDispose]: () => unlink(path).catch(() => undefined) };
}

/**
 * Removes the claim of a process that has died. Of several processes that found it, one at a time looks again and removes it,
 * so that none removes the claim of another that was quicker.
 */
async function removeDead(path: string): Promise<void> {
  const turn = `${path}.turn`;
  if (!(await succeeds(mkdir(turn)))) {
    await sleep(TURN_MS);
    // A process may have died in its turn.
    const held = await stat(turn).catch(() => null);
    if (held && Date.now() - held.mtimeMs > ATTEMPTS * TURN_MS) await rmdir(turn).catch(() => undefined);
    return;
  }
  try {
    // Another claim can appear only where there is none.
    if ((await readClaim(path))?.isRunning === false) await unlink(path).catch(() => undefined);
  } finally {
    await rmdir(turn);
  }
}

/** Whether something was created; false if it is there already. */
async function succeeds(creating: Promise<unknown>): Promise<boolean> {
  try {
    await creating;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** The process that claims a folder; null if none does. */
async function readClaim(
  path: string,
): Promise<{ readonly pid: string; readonly isRunning: boolean } | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  const [pid = '', startTime = ''] = text.split(' ');
  return { pid, isRunning: await isRunning(Number(pid), startTime) };
}

async function isRunning(pid: number, startTime: string): Promise<boolean> {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const now = await startTimeOf(pid);
  return now === null || startTime === '' || now === startTime;
}

/** The start time of a process, in clock ticks since the machine was started; null if the system does not provide it. */
async function startTimeOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
