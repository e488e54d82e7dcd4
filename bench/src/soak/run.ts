import { describeMachine } from '../machine.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { type Output, publish } from '../results.ts';
import { stopOnSignals } from '../stop.ts';
import { lineOf, reportOf, slowSeconds } from './report.ts';
import { soak } from './soak.ts';
import { judgeSoak } from './verdict.ts';

export interface SoakRunOptions extends StageOptions, Output {
  readonly minutes: number;
  /** Events per second; half of the maximum by default. */
  readonly rate?: number;
  readonly connections: number;
  /** The size in bytes of the new image that one event in ten has; none by default. */
  readonly imageBytes?: number;
  /** The time from one sample to the next, in seconds. */
  readonly every: number;
  readonly seed: number;
  readonly sensors: number;
}

/** Applies a constant load for a long time, and checks memory and latency. */
export async function runSoak(options: SoakRunOptions): Promise<void> {
  const { databaseUrl, folder, json, save, ...load } = options;
  const signal = stopOnSignals();
  const isEmbedded = databaseUrl === undefined;
  const results = await onStage(options, async (stage, workFolder) => {
    const { rate, stored, samples, seconds } = await soak(stage, {
      ...load,
      folder: workFolder,
      isEmbedded,
      signal,
      onSample: (sample) => process.stderr.write(`${lineOf(sample)}\n`),
      onBrokenOff: (seconds) => process.stderr.write(`${slowSeconds(seconds).join('\n')}\n`),
    });
    const judgements = judgeSoak(samples);
    return {
      name: 'soak',
      date: new Date(),
      machine: await describeMachine(stage.postgresql),
      options: { ...load, rate, database: isEmbedded ? 'embedded' : 'given' },
      text: reportOf({ rate, stored, samples, seconds }, judgements),
      data: { rate, stored, samples, judgements, seconds },
    };
  });
  await publish(results, { json, save });
}
