import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Logger } from 'pino';
import { migrate, tablesOfMigrations } from '../../platform/database/migrate.ts';
import { waitForDatabase } from '../../platform/database/wait.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { BackupRefused } from './refusal.ts';
import {
  type CopyConnection,
  copyOut,
  excludeOthers,
  hasSchema,
  listTables,
  openCopyConnection,
  readFacts,
  readSequences,
  requireKnownSchema,
  takeSnapshot,
} from './source-store.ts';
import { analyze, countRows, loadTables, refuseWhileServed, requireEmptyDatabase } from './target-store.ts';

export interface MoveOptions {
  /** The embedded database, which no service uses. */
  readonly from: string;
  /** An empty database on another server. */
  readonly to: string;
  readonly allowUnsafe: boolean;
  readonly log: Logger;
  /** Called with what is being done, as part of a sentence. */
  readonly onStep?: (step: string) => void;
}

/** What was moved. */
export interface MoveResult {
  readonly tables: number;
  readonly rows: number;
  readonly events: number;
  readonly seconds: number;
}

/**
 * Copies a database to another server, counts the rows on both, and leaves the source as it was.
 * @throws BackupRefused when the source is in use, the target is not empty, or the counts differ
 */
export async function moveDatabase({
  from,
  to,
  allowUnsafe,
  log,
  onStep = () => {},
}: MoveOptions): Promise<MoveResult> {
  const began = performance.now();
  await using source = await openCopyConnection(from);
  if (!(await hasSchema(source.client))) {
    throw new BackupRefused(
      'There is nothing to move: the embedded database is empty. Start the service with DATABASE_URL',
    );
  }
  await refuseWhileServed(source.client);
  await excludeOthers(source.client);
  await waitForDatabase(to, { allowUnsafe, log });
  await takeSnapshot(source, from);
  const { migrations } = await readFacts(source.client);
  await requireKnownSchema(migrations);
  const names = new Set(migrations.map(({ name }) => name));
  {
    await using target = await openCopyConnection(to);
    await requireEmptyDatabase(target, names);
  }
  onStep('the schema');
  await migrate(to, { folder: migrationsFolder, only: names, log });
  onStep('the tables');
  await using target = await openCopyConnection(to);
  const moved = await copyAll(source, target.client);
  onStep('the statistics');
  await migrate(to, { folder: migrationsFolder, log });
  await analyze(target.client);
  return { ...moved, seconds: (performance.now() - began) / 1_000 };
}

async function copyAll(connection: CopyConnection, target: pg.Client): Promise<Omit<MoveResult, 'seconds'>> {
  const { client: source } = connection;
  const tables = await listTables(connection, await tablesOfMigrations(migrationsFolder), 'move');
  const data = {
    tables: tables.map((table) => ({ ...table, rows: null })),
    sequences: await readSequences(source),
    open: (table: { name: string; columns: readonly string[] }) =>
      source.query(copyTo(copyOut(source, table))),
    isFromThePast: false,
    lackingPictures: [],
    hasObjectsOnly: false,
  };
  let after: ReadonlyMap<string, number> = new Map();
  await loadTables(target, data, async () => {
    const before = await countRows(source, tables);
    after = await countRows(target, tables);
    const different = tables.find(({ name }) => before.get(name) !== after.get(name));
    if (!different) return;
    const { name } = different;
    throw new BackupRefused(
      `The table ${name} has ${before.get(name)} rows here and ${after.get(name)} there, so nothing was moved: try again`,
    );
  });
  const sum = (of: typeof tables): number =>
    of.reduce((total, { name }) => total + (after.get(name) ?? 0), 0);
  return {
    tables: tables.length,
    rows: sum(tables),
    events: sum(tables.filter(({ bounds }) => bounds !== null)),
  };
}
