import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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
  const own = `${process.pid} ${(await startTimeOf(process.pid)) ?? ''}`;
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(path, own, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid = '', startTime = ''] = (await readFile(path, 'utf8').catch(() => '')).split(' ');
    if ((await isRunning(Number(pid), startTime)) || attempt === 3) {
      throw new FolderInUse(
        `The folder ${folder} is used by process ${pid}: give each device a folder of its own`,
      );
    }
    await unlink(path).catch(() => undefined);
  }
  return { [Symbol.asyncDispose]: () => unlink(path).catch(() => undefined) };
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
