import { Argument, type Command, Option } from 'commander';
import { type RebuildKind, rebuilds } from '../../operations/consistency/check.ts';
import type { CheckResult } from '../../operations/consistency/checks.ts';
import { MAX_SHARDS } from '../../platform/database/distribute/steps.ts';
import { openDatabaseOf } from '../../platform/database/open.ts';
import { loadConfig } from '../../platform/load-config.ts';
import { CommandFailed, exitCodes, print, printJson, reporting, WrongUsage, wholeNumber } from './output.ts';

interface CheckOptions {
  readonly repair?: boolean;
  readonly limit: number;
  readonly json: boolean;
}

const tell = ({ name, compares, differences, rebuild }: CheckResult): void => {
  print(`${differences.length === 0 ? 'equal    ' : 'DIFFERENT'}  ${name}: ${compares}`);
  for (const difference of differences) print(`           ${JSON.stringify(difference)}`);
  if (differences.length > 0) print(`           corrected by: gantry db rebuild ${rebuild}`);
};

async function check({ repair, limit, json }: CheckOptions): Promise<void> {
  if (repair) refuseRepair();
  const { runChecks } = await import('../../operations/consistency/checks.ts');
  const config = loadConfig();
  await using database = await openDatabaseOf(config);
  const results = await runChecks({
    connectionString: database.connectionString,
    features: config.FEATURES,
    limit,
    onResult: json ? () => undefined : tell,
  });
  if (json) printJson({ checks: results });
  if (results.some(({ differences }) => differences.length > 0)) process.exitCode = exitCodes.failed;
}

async function rebuild(kind: RebuildKind, { json }: { readonly json: boolean }): Promise<void> {
  const { rebuildDerived } = await import('../../operations/consistency/checks.ts');
  const config = loadConfig();
  await using database = await openDatabaseOf(config);
  const rows = await rebuildDerived(kind, {
    connectionString: database.connectionString,
    features: config.FEATURES,
  });
  if (json) printJson({ rebuilt: kind, rows });
  else print(`rebuilt ${kind}: ${rows} rows`);
}

function refuseRepair(): never {
  throw new WrongUsage(
    'gantry db repair was replaced: gantry db check names the data that differ, and gantry db rebuild <what> recomputes them.',
  );
}

interface DistributeOptions {
  readonly dryRun: boolean;
  readonly shards?: number;
  readonly ingestOnEveryNode?: boolean;
}

async function distribute({ dryRun, shards, ingestOnEveryNode }: DistributeOptions): Promise<void> {
  if (ingestOnEveryNode) {
    throw new CommandFailed(
      'Ingesting on every node is not supported: the counts would have to be reference tables, and Citus makes none of partitioned tables such as event_totals. Let every service connect to the coordinator.',
    );
  }
  const { distribute } = await import('../../platform/database/distribute/distribute.ts');
  const { DATABASE_URL: connectionString } = loadConfig();
  if (connectionString === undefined) {
    throw new CommandFailed(
      'The embedded database is one server and cannot be distributed: set DATABASE_URL to the coordinator of a Citus cluster.',
    );
  }
  await distribute({ connectionString, shards: shards ?? null, isDryRun: dryRun, say: print });
}

const notChecked = { what: 'Not checked.', code: exitCodes.usage };

export function addDatabase(program: Command): void {
  const db = program.command('db').description('Check, rebuild or distribute the database.');

  db.command('check')
    .description(
      'Recompute all derived data (totals, rollups, incidents, statuses) and report each row that differs from its source. The service can keep running.',
    )
    .addOption(new Option('--repair').hideHelp())
    .option('--limit <number>', 'maximum number of differences reported per check', wholeNumber(1), 100)
    .option('--json', 'print the results as JSON', false)
    .addHelpText('after', '\nExits with 1 if anything differs, and with 2 if it could not check.')
    .action(reporting(notChecked, check));

  db.command('rebuild')
    .description(
      'Recompute one kind of derived data through the code that maintains it. gantry db check says which. The service can keep running.',
    )
    .addArgument(new Argument('<what>', 'the kind of data').choices(rebuilds))
    .option('--json', 'print the result as JSON', false)
    .action(reporting({ what: 'Not rebuilt.' }, rebuild));

  db.command('repair', { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(reporting({}, async () => refuseRepair()));

  db.command('distribute')
    .description(
      'Turn the schema in the database of DATABASE_URL, the coordinator of a Citus cluster, into its distributed form.',
    )
    .option('--dry-run', 'print the SQL and run nothing', false)
    .option(
      '--shards <number>',
      'shards of events (default: one for each node, at least 2)',
      wholeNumber(1, MAX_SHARDS),
    )
    .addOption(new Option('--ingest-on-every-node').hideHelp())
    .action(reporting({ what: 'Not distributed.' }, distribute));
}
