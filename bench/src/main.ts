import { bundleCommand } from './bundle/command.ts';
import { consoleCommand } from './console/command.ts';
import { faultsCommand } from './faults/command.ts';
import { gatewaysCommand } from './gateways/command.ts';
import { ingestCommand } from './ingest/command.ts';
import { runProgram } from './program.ts';
import { queryCommand } from './query/command.ts';
import { reportsCommand } from './reports/command.ts';
import { soakCommand } from './soak/command.ts';

await runProgram([
  bundleCommand,
  consoleCommand,
  faultsCommand,
  gatewaysCommand,
  ingestCommand,
  queryCommand,
  reportsCommand,
  soakCommand,
]);
