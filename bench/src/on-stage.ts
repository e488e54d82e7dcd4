import { type Stage, setStage } from './stage.ts';
import { createWorkFolder } from './work-folder.ts';

export interface StageOptions {
  /** A PostgreSQL server on which databases may be created; by default the embedded one. */
  readonly databaseUrl?: string;
  /** The number of processes of Gantry. */
  readonly workers: number;
  /** The number of sensors; 20 by default. */
  readonly sensors?: number;
  /** The folder for data on disk. */
  readonly folder?: string;
}

/** Sets up the stage in a new folder, runs `use` on it, and removes everything in any case. */
export async function onStage<Found>(
  { databaseUrl, folder, workers, sensors }: StageOptions,
  use: (stage: Stage, workFolder: string) => Promise<Found>,
): Promise<Found> {
  const work = await createWorkFolder(folder);
  try {
    const stage = await setStage(work.path, { server: databaseUrl, workers, sensors });
    try {
      return await use(stage, work.path);
    } finally {
      await stage[Symbol.asyncDispose]();
    }
  } finally {
    await work[Symbol.asyncDispose]();
  }
}
