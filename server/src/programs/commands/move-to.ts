import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { dataFolderAt, openDatabaseOf } from '../../platform/database/open.ts';
import { loadConfig } from '../../platform/load-config.ts';
import { createLog } from '../../platform/log.ts';
import { CommandFailed, print, printJson, reporting, WrongUsage } from './output.ts';

async function moveTo(address: string, { json }: { readonly json: boolean }): Promise<void> {
  if (!/^postgres(ql)?:\/\/.+/.test(address) || !URL.canParse(address)) {
    throw new WrongUsage('The address must be one such as postgres://user:password@host:5432/gantry');
  }
  const { moveDatabase } = await import('../../operations/backup/move.ts');
  const config = loadConfig();
  if (config.DATABASE_URL !== undefined) {
    throw new CommandFailed(
      'DATABASE_URL is set, so this installation has no embedded database to move: use gantry backup and gantry restore',
    );
  }
  // Throws while a service runs. `openDatabaseOf` claims the folder again when it starts the database.
  if (existsSync(config.DATA_DIR)) await (await dataFolderAt(config.DATA_DIR).claim())[Symbol.asyncDispose]();
  await using database = await openDatabaseOf(config);
  const moved = await moveDatabase({
    from: database.connectionString,
    to: address,
    allowUnsafe: config.ALLOW_UNSAFE_DATABASE,
    log: createLog('error'),
    onStep: (step) => {
      if (!json) print(`  ${step}`);
    },
  });
  if (json) return printJson(moved);
  print(
    `Moved in ${moved.seconds.toFixed(1)} s and counted on both sides: ${moved.events} events, ${moved.rows} rows in ${moved.tables} tables.`,
  );
  print('Now set DATABASE_URL to that address, keep DATA_DIR with its images, and start the service.');
  if (config.JWT_SECRET === undefined) {
    print(
      `With NODE_ENV=production, set JWT_SECRET to the text in ${join(config.DATA_DIR, 'jwt-secret')} too.`,
    );
  }
  print(
    `The embedded database is unchanged. Remove ${join(config.DATA_DIR, 'postgres')} once the service works.`,
  );
}

export function addMoveTo(program: Command): void {
  program
    .command('move-to')
    .description(
      'Copy the embedded database to an empty database on your own server. The service must be stopped.',
    )
    .argument('<DATABASE_URL>', 'address of the empty database')
    .option('--json', 'print the result as JSON', false)
    .action(reporting({ what: 'Not moved.' }, moveTo));
}
