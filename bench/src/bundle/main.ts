import { ingestCommand } from '../ingest/command.ts';
import { runProgram } from '../program.ts';
import { queryCommand } from '../query/command.ts';
import { soakCommand } from '../soak/command.ts';

// The program of a bundle: the benchmarks that need no browser, no faults and no sources.

await runProgram([ingestCommand, queryCommand, soakCommand]);
