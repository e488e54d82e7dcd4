import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/platform/config.ts';
import { sqlState } from '../src/platform/database/failure.ts';
import { openDatabaseOf } from '../src/platform/database/open.ts';
import { safeText } from '../src/platform/describe-error.ts';
import { type CheckResult, runChecks } from './check/checks.ts';

const HELP = `npm run db:check -- [--repair] [--limit <number>] [--json]

Recomputes all derived data (totals, rollups, incidents, statuses) and reports each row that differs from its source.
The service can keep running. Exits with 1 if anything differs, and with 2 if it could not check.

  --repair            repair differences
  --limit <number>    maximum number of differences reported per check (default 100)
  --json              print the results as JSON
`;

const print = (text: string): void => void process.stdout.write(text);

const tell = ({ name, compares, differences, repaired }: CheckResult): void => {
  print(`${differences.length === 0 ? 'equal    ' : 'DIFFERENT'}  ${name}: ${compares}\n`);
  for (const difference of differences) print(`           ${JSON.stringify(difference)}\n`);
  if (repaired !== null) print(`           repaired: ${repaired} rows\n`);
};

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      repair: { type: 'boolean', default: false },
      limit: { type: 'string', default: '100' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return print(HELP);
  const limit = Number(values.limit);
  if (!(Number.isInteger(limit) && limit >= 1))
    throw new Error(`--limit must be a whole number from 1, not ${values.limit}`);
  if (existsSync('.env')) process.loadEnvFile('.env');
  const config = readConfig(process.env);
  await using database = await openDatabaseOf(config);
  const results = await runChecks({
    connectionString: database.connectionString,
    features: config.FEATURES,
    isRepairing: values.repair,
    limit,
    onResult: values.json ? () => undefined : tell,
  });
  if (values.json) print(`${JSON.stringify({ checks: results }, null, 2)}\n`);
  if (results.some(({ differences }) => differences.length > 0)) process.exitCode = 1;
};

/** SQLSTATEs for missing tables, columns and functions. */
const MISSING = /^42(P01|703|883)$/;

run().catch((error: unknown) => {
  const isOlder = MISSING.test(sqlState(error) ?? '');
  const told = isOlder
    ? 'The schema is not that of this version: start the service once to update it.'
    : safeText(error);
  process.stderr.write(`Not checked. ${told}\n`);
  process.exitCode = 2;
});
