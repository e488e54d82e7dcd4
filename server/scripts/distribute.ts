import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/platform/config.ts';
import { DistributionRefused } from '../src/platform/database/distribute/cluster.ts';
import { distribute } from '../src/platform/database/distribute/distribute.ts';
import { MOST_SHARDS } from '../src/platform/database/distribute/steps.ts';

const HELP = `npm run db:distribute -- [--dry-run] [--shards <number>]

Turns the schema in the database of DATABASE_URL, the coordinator of a Citus cluster, into its distributed form.

  --dry-run           print the SQL and run nothing
  --shards <number>   shards of events (default: twice the nodes, at least 4)
`;

const wholeNumber = (text: string | undefined): number | null => {
  if (text === undefined) return null;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= MOST_SHARDS) return value;
  throw new DistributionRefused(`--shards must be a whole number from 1 to ${MOST_SHARDS}, not ${text}`);
};

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      shards: { type: 'string' },
      'ingest-on-every-node': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  if (values['ingest-on-every-node']) {
    throw new DistributionRefused(
      'Ingesting on every node is not supported: the counts would have to be reference tables, and Citus makes none of partitioned tables such as event_totals. Let every service connect to the coordinator.',
    );
  }
  const shards = wholeNumber(values.shards);
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { DATABASE_URL: connectionString } = readConfig(process.env);
  if (connectionString === undefined) {
    throw new DistributionRefused(
      'The embedded database is one server and cannot be distributed: set DATABASE_URL to the coordinator of a Citus cluster.',
    );
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  await distribute({ connectionString, shards, isDryRun: values['dry-run'], say });
};

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}\n  because: ${messageOf(error.cause)}`;
};

run().catch((error: unknown) => {
  process.stderr.write(`Not distributed. ${messageOf(error)}\n`);
  process.exitCode = 1;
});
