import { join } from 'node:path';
import { onStage, type StageOptions } from '../on-stage.ts';
import { type Stage, setStage } from '../stage.ts';
import { createUndo } from '../undo.ts';

interface Options extends Omit<StageOptions, 'workers'> {
  readonly workers: readonly [number, ...number[]];
}

/** Runs `use` with a stage for each number of workers, in that order. Each has a database on the same server. */
export async function onStages<Found>(
  { workers, ...options }: Options,
  use: (stages: readonly [Stage, ...Stage[]]) => Promise<Found>,
): Promise<Found> {
  // An embedded server accepts as many connections as its own service may need, so the one of the largest stage is used.
  const most = Math.max(...workers);
  return onStage({ ...options, workers: most }, async (largest, folder) => {
    const undo = createUndo();
    const stageOf = async (count: number): Promise<Stage> => {
      if (count === most) return largest;
      const server = options.databaseUrl ?? largest.databaseUrl;
      const stage = await setStage(join(folder, `workers-${count}`), { server, workers: count });
      undo.add(() => stage[Symbol.asyncDispose]());
      return stage;
    };
    try {
      const [first, ...others] = workers;
      const stages: [Stage, ...Stage[]] = [await stageOf(first)];
      for (const count of others) stages.push(await stageOf(count));
      return await use(stages);
    } finally {
      await undo.run();
    }
  });
}
