import { type Stage, setStage } from './stage.ts';
import { createWorkFolder } from './work-folder.ts';

export interface StageOptions {
  /** A PostgreSQL server on which databases may be created; unset, the one that Gantry brings. */
  readonly databaseUrl?: string;
  /** How many processes Gantry serves with. */
  readonly workers: number;
  /** Where to make the folder for what is kept on disk. */
  readonly folder?: string;
}

/** Sets the stage in a new folder, lets `use` work on it, and removes everything whatever came of it. */
export async function onStage<Found>(
  { databaseUrl, folder, workers }: StageOptions,
  use: (stage: Stage, workFolder: string) => Promise<Found>,
): Promise<Found> {
  const work = await createWorkFolder(folder);
  try {
    const stage = await setStage(work.path, databaseUrl, workers);
    try {
      return await use(stage, work.path);
    } finally {
      await stage[Symbol.asyncDispose]();
    }
  } finally {
    await work[Symbol.asyncDispose]();
  }
}
