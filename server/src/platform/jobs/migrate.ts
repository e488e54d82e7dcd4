import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { pino } from 'pino';
import { createJobLogger } from './logger.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';

// Every job that is added takes a number of these tables, also when it is not needed in the end, and there are 2^31. After
// the last one, no job could be added any more; going round, a number is only used when a task or queue is new.
const ENDLESS = ['_private_tasks', '_private_job_queues'];

const makeEndless = async (pool: pg.Pool, table: string): Promise<void> => {
  const { rowCount } = await pool.query(
    'SELECT FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence($1, $2)::regclass AND NOT seqcycle',
    [`${QUEUE_SCHEMA}.${table}`, 'id'],
  );
  if (rowCount !== 0) await pool.query(`ALTER TABLE ${QUEUE_SCHEMA}.${table} ALTER COLUMN id SET CYCLE`);
};

/** Brings the tables of the job queue, which has a schema of its own, up to date. Only one process may do so at a time. */
export const migrateJobQueue = async (connectionString: string): Promise<void> => {
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'gantry migration' });
  const silent = createJobLogger(pino({ level: 'silent' }));
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await runMigrations({ pgPool: pool, schema: QUEUE_SCHEMA, logger: silent });
    for (const table of ENDLESS) await makeEndless(pool, table);
  } catch (cause) {
    throw new Error(
      `The tables of the job queue (schema ${QUEUE_SCHEMA}) could not be made: its user needs the right to create schemas in the database`,
      { cause },
    );
  } finally {
    await pool.end();
  }
};
