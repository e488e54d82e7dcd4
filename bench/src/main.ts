import { Command } from 'commander';
import { BenchmarkFailed } from './failure.ts';
import { faultsCommand } from './faults/command.ts';
import { gatewaysCommand } from './gateways/command.ts';
import { ingestCommand } from './ingest/command.ts';
import { queryCommand } from './query/command.ts';
import { reportsCommand } from './reports/command.ts';

const program = new Command('bench').description(
  'Side-by-side benchmarks of Gantry. They start everything they need and remove it again.',
);
for (const command of [faultsCommand, gatewaysCommand, ingestCommand, queryCommand, reportsCommand])
  program.addCommand(command);

try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`${error instanceof BenchmarkFailed ? error.message : error.stack}\n`);
  process.exit(1);
}
