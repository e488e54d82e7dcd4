import { resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../../platform/load-config.ts';
import { createLog } from '../../platform/log.ts';
import { reporting } from './failure.ts';
import { inMegabytes, print, printJson } from './output.ts';

interface RestoreOptions {
  readonly verifyOnly: boolean;
  readonly json: boolean;
}

async function restore(folder: string, { verifyOnly, json }: RestoreOptions): Promise<void> {
  const { findArchive } = await import('../../operations/backup/folder.ts');
  const { verifyArchive } = await import('../../operations/backup/archive.ts');
  const config = loadConfig();
  const archive = await findArchive(resolve(folder));
  const say = (line: string): void => {
    if (!json) print(line);
  };
  say(`Reading ${archive}.`);
  const manifest = await verifyArchive(archive);
  const { madeAt, gantryVersion, pictures } = manifest;
  say(
    `  made ${madeAt} by version ${gantryVersion}; ${pictures.count} pictures (${inMegabytes(pictures.bytes)})`,
  );
  if (verifyOnly) {
    if (json) printJson({ archive, isComplete: true, madeAt, gantryVersion });
    return say('The backup is complete and undamaged. Nothing was restored.');
  }
  const { openTarget } = await import('../../operations/backup/target-store.ts');
  const { openBlobs } = await import('../../images/blobs.ts');
  const { restoreBackup } = await import('../../operations/backup/restore.ts');
  await using target = await openTarget(config);
  await using blobs = await openBlobs(config);
  const restored = await restoreBackup({
    archive,
    manifest,
    connectionString: target.connectionString,
    allowUnsafe: config.ALLOW_UNSAFE_DATABASE,
    blobs,
    dataDir: config.DATA_DIR,
    log: createLog('error'),
    onStep: (step) => say(`  ${step}`),
  });
  if (json) return printJson({ archive, ...restored });
  print(
    `Restored in ${restored.seconds.toFixed(1)} s: ${restored.events} events, ${restored.rows} rows in all, ${restored.pictures} pictures.`,
  );
  if (config.JWT_SECRET === undefined && manifest.secrets.length === 0)
    print('The backup contains no token secret: set JWT_SECRET as in the installation that it was made of.');
  print('Start the service. Everybody has to log in again; devices go on with their keys.');
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description(
      'Restore a backup into an empty installation: a new DATA_DIR, or an empty database in DATABASE_URL. No service may run on it.',
    )
    .argument('<folder>', 'folder of a backup, or of several, whose newest is taken')
    .option('--verify-only', 'check that the backup is complete and undamaged, and restore nothing', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      `
The whole backup is read and checked before anything is changed. If a restore is interrupted, run it again.`,
    )
    .action(reporting({ what: 'Not restored.' }, restore));
}
