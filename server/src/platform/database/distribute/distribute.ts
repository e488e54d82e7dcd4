import type pg from 'pg';
import { Client, clientSettings } from '../address.ts';
import { locks } from '../locks.ts';
import { countNodes, refuseWhileServed, refuseWithoutSchema } from './cluster.ts';
import { COUNT_EVENTS, COUNT_SHARDS, type Step, shardsFor, stepsTo } from './steps.ts';

export interface DistributeOptions {
  readonly connectionString: string;
  /** The number of shards of events; null derives it from the number of nodes. */
  readonly shards: number | null;
  /** Prints the statements instead of running them. */
  readonly isDryRun: boolean;
  /** Receives a line of progress. In a dry run, all lines together are SQL. */
  readonly say: (line: string) => void;
}

/**
 * Converts the schema on the coordinator of a Citus cluster into its distributed form. Steps that are done already
 * are skipped.
 * @throws DistributionRefused when it is impossible, with what to do; nothing was changed
 * @throws Error when a step failed or may not run; the steps before it remain, and another run continues there
 */
export async function distribute(options: DistributeOptions): Promise<void> {
  const client = await connect(options.connectionString);
  try {
    await distributeOn(client, options);
  } finally {
    await client.end();
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new Client(
    clientSettings(connectionString, { application_name: 'gantry distribution', keepAlive: true }),
  );
  try {
    await client.connect();
  } catch (cause) {
    throw new Error('The database of DATABASE_URL cannot be reached', { cause });
  }
  // Moving events may take any length of time, whatever the server allows for ordinary statements.
  await client.query('SET statement_timeout = 0');
  await client.query('SET lock_timeout = 0');
  await client.query('SET idle_session_timeout = 0');
  return client;
}

async function isTrue(client: pg.Client, query: string): Promise<boolean> {
  const { rows } = await client.query<Record<string, boolean>>(query);
  return Object.values(rows[0] ?? {})[0] === true;
}

async function countBy(client: pg.Client, query: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(query);
  return rows[0]?.n ?? 0;
}

async function findDue(client: pg.Client, steps: readonly Step[]): Promise<Step[]> {
  const due: Step[] = [];
  for (const step of steps) if (!(await isTrue(client, step.isDone))) due.push(step);
  return due;
}

async function runStep(client: pg.Client, { name, statement, condition }: Step): Promise<void> {
  if (condition && !(await isTrue(client, condition.query))) throw new Error(condition.otherwise);
  try {
    await client.query(statement);
  } catch (cause) {
    throw new Error(
      `This step failed and changed nothing: ${name}. The steps before it remain; run this again to continue from here`,
      { cause },
    );
  }
}

function tellDryRun(due: readonly Step[], say: DistributeOptions['say']): void {
  for (const { name, why, statement } of due) say(`-- ${name}: ${why}\n${statement};`);
  if (due.length > 0) say('-- A dry run: nothing was changed.');
}

async function runAll(client: pg.Client, due: readonly Step[], say: DistributeOptions['say']): Promise<void> {
  client.on('notice', ({ message }) => say(`    ${message}`));
  for (const [index, step] of due.entries()) {
    say(`${index + 1} of ${due.length}: ${step.name}\n    ${step.statement};`);
    const started = performance.now();
    await runStep(client, step);
    say(`    done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
}

async function distributeOn(client: pg.Client, options: DistributeOptions): Promise<void> {
  const { shards, isDryRun } = options;
  const say = isDryRun ? (line: string) => options.say(`-- ${line}`) : options.say;
  const nodes = await countNodes(client);
  await refuseWithoutSchema(client);
  if (!isDryRun) {
    // The lock of migrations: a service that starts meanwhile waits for it before it uses the database.
    await client.query('SELECT pg_advisory_lock($1)', [locks.migration]);
    await refuseWhileServed(client);
  }
  const existing = await countBy(client, COUNT_SHARDS);
  const wanted = shards ?? shardsFor(nodes);
  const due = await findDue(client, stepsTo(wanted));

  if (existing > 0 && shards !== null && shards !== existing) {
    say(`Events are in ${existing} shards already; --shards ${shards} does not change that.`);
  }
  if (due.length > 0 && existing === 0) {
    const events = await countBy(client, COUNT_EVENTS);
    say(
      `${events} events will be moved, into ${wanted} shards on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}.`,
    );
  }
  if (isDryRun) tellDryRun(due, options.say);
  else await runAll(client, due, say);
  if (due.length === 0) say(`Everything is in place: events are in ${existing} shards. Nothing to do.`);
  else if (!isDryRun)
    say(
      `The schema is in its distributed form: events are in ${await countBy(client, COUNT_SHARDS)} shards.`,
    );
}
