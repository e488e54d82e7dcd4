import { Command } from 'commander';
import { BenchmarkFailed } from './failure.ts';

/** Runs the benchmark that the arguments name, and ends the process. */
export async function runProgram(commands: readonly Command[]): Promise<never> {
  const program = new Command('bench').description(
    'Side-by-side benchmarks of Gantry. They start everything they need and remove it again.',
  );
  for (const command of commands) program.addCommand(command);
  try {
    await program.parseAsync();
    process.exit(0);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`${error instanceof BenchmarkFailed ? error.message : error.stack}\n`);
    process.exit(1);
  }
}
