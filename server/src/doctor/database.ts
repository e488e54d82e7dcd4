import type { Finding } from '@gantry/contract/doctor';
import { migrationsFolder } from '../installation.ts';
import type { Config } from '../platform/config.ts';
import { readDatabaseTime } from '../platform/database/database-time.ts';
import { dueOf, readMigrations } from '../platform/database/migrate.ts';
import { FURTHER_CONNECTIONS } from '../platform/database/pools.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { machineTime } from '../platform/machine-time.ts';
import { advice, fine, problem } from './findings.ts';
import { listAppliedMigrations, readServerState, type ServerState } from './store.ts';

/** The same limit beyond which the service reports that it is degraded. */
const SKEW_MS = 5_000;
const LONG_TRANSACTION_S = 3_600;
const NEWEST_TESTED = 18;

/** The database server and its schema. */
export async function examineDatabase(db: Executor, config: Config): Promise<Finding[]> {
  const state = await readServerState(db);
  return [
    ...examineServer(state, config),
    ...examineConnections(state, config),
    await examineClock(db),
    ...(await examineSchema(db, state)),
  ];
}

function examineServer(state: ServerState, { DATABASE_URL }: Config): Finding[] {
  const { version, off, encoding, standby, may_create, longest_transaction } = state;
  const major = Math.floor(version / 10_000);
  const whose = DATABASE_URL ? 'The database server' : 'The embedded database';
  const found = [fine('database', `${whose} answers (PostgreSQL ${major}.${version % 10_000}).`)];
  if (major < 15)
    found.push(problem('database', `${whose} is PostgreSQL ${major}.`, 'Update it to PostgreSQL 15 to 18.'));
  if (major > NEWEST_TESTED)
    found.push(
      advice(
        'database',
        `${whose} is PostgreSQL ${major}, with which Gantry was not tested.`,
        'Use 15 to 18.',
      ),
    );
  if (encoding !== 'UTF8')
    found.push(
      problem('database', `The database has the encoding ${encoding}.`, "Create it with ENCODING 'UTF8'."),
    );
  if (standby)
    found.push(
      problem('database', 'The server is a standby, which only reads.', 'Name the primary in DATABASE_URL.'),
    );
  if (may_create !== true)
    found.push(
      problem(
        'database',
        'The role may not create tables in the schema public, which is needed every month.',
        'Run GRANT CREATE ON SCHEMA public TO the role in DATABASE_URL.',
      ),
    );
  if (off.length > 0)
    found.push(
      problem(
        'database',
        `${whose} runs with ${off.join(' and ')} off, so acknowledged events can be lost when it fails.`,
        `Switch ${off.join(' and ')} on.`,
      ),
    );
  if (longest_transaction > LONG_TRANSACTION_S)
    found.push(
      advice(
        'database',
        `A transaction has been open for ${Math.round(longest_transaction / 60)} minutes, which delays streams and the removal of old rows.`,
        'Find it in pg_stat_activity (xact_start), and end it.',
      ),
    );
  return found;
}

function examineConnections({ connections, used_by_others }: ServerState, config: Config): Finding[] {
  const needed = config.WORKERS * (config.DATABASE_POOL_SIZE + FURTHER_CONNECTIONS);
  const finding = `This service may open ${needed} connections, others use ${used_by_others}, and the server allows ${connections}.`;
  if (needed + used_by_others <= connections) return [fine('database', finding)];
  return [
    problem(
      'database',
      finding,
      'Raise max_connections of the server, or lower DATABASE_POOL_SIZE or WORKERS.',
    ),
  ];
}

async function examineClock(db: Executor): Promise<Finding> {
  const before = machineTime();
  const there = await readDatabaseTime(db);
  const here = (before + machineTime()) / 2;
  const seconds = (Math.abs(here - there) / 1000).toFixed(1);
  const finding = `The clocks of this machine and of the database differ by ${seconds} s.`;
  if (Math.abs(here - there) <= SKEW_MS) return fine('database', finding);
  return problem('database', finding, 'Synchronise both with NTP.');
}

async function examineSchema(db: Executor, { invalid_indexes }: ServerState): Promise<Finding[]> {
  const applied = await listAppliedMigrations(db);
  if (applied === null)
    return [advice('schema', 'The database is empty.', 'Start the service, which creates the schema.')];
  const found: Finding[] = [];
  try {
    const due = dueOf(await readMigrations(migrationsFolder), applied);
    if (due.length > 0)
      found.push(
        advice(
          'schema',
          `${due.length} migrations wait (${due[0]?.name} and later).`,
          'Make a backup and start the service, which applies them.',
        ),
      );
  } catch (error) {
    found.push(problem('schema', `${(error as Error).message}.`, 'Use the version that wrote the database.'));
  }
  if (invalid_indexes.length > 0)
    found.push(
      problem(
        'schema',
        `These indexes are invalid and are not used: ${invalid_indexes.join(', ')}.`,
        'Run REINDEX INDEX CONCURRENTLY for each of them.',
      ),
    );
  return found.length > 0 ? found : [fine('schema', 'The schema is that of this version.')];
}
