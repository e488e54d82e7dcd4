import { Command } from 'commander';
import { consoleCommand } from './console/command.ts';
import { BenchmarkFailed } from './failure.ts';
import { faultsCommand } from './faults/command.ts';
import { gatewaysCommand } from './gateways/command.ts';
import { ingestCommand } from './ingest/command.ts';
import { queryCommand } from './query/command.ts';
import { reportsCommand } from './reports/command.ts';
import { soakCommand } from './soak/command.ts';

const program = new Command('bench')
  .description('Side-by-side benchmarks of Gantry. They start everything they need and remove it again.')
  .addCommand(consoleCommand)
  .addCommand(faultsCommand)
  .addCommand(gatewaysCommand)
  .addCommand(ingestCommand)
  .addCommand(queryCommand)
  .addCommand(reportsCommand)
  .addCommand(soakCommand);

try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`${error instanceof BenchmarkFailed ? error.message : error.stack}\n`);
  process.exit(1);
}
