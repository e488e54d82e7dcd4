import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { BackupResult } from '../../operations/backup/make.ts';
import type { Config } from '../../platform/config.ts';
import { openDatabaseOf } from '../../platform/database/open.ts';
import { loadConfig } from '../../platform/load-config.ts';
import { createLog } from '../../platform/log.ts';
import { CommandFailed, inMegabytes, print, printJson, reporting, wholeNumber } from './output.ts';

interface BackupOptions {
  readonly keep?: number;
  readonly encryptTo?: readonly string[];
  readonly json: boolean;
}

/** The folder of backups: the argument, or the setting. */
function folderOf(argument: string | undefined, config: Config): string {
  const folder = argument === undefined ? config.BACKUP_DIR : resolve(argument);
  if (folder !== undefined) return folder;
  throw new CommandFailed('There is no folder for backups: name one, or set BACKUP_DIR');
}

async function backup(argument: string | undefined, { keep, encryptTo, json }: BackupOptions): Promise<void> {
  const { makeRecordedBackup } = await import('../../operations/backup/recorded.ts');
  const { openImageFiles } = await import('../../images/blobs.ts');
  const config = loadConfig();
  const folder = folderOf(argument, config);
  // BACKUP_KEEP is for BACKUP_DIR, so it does not remove backups from another folder.
  const isOwn = argument === undefined || folder === config.BACKUP_DIR;
  await using database = await openDatabaseOf(config);
  await using files = await openImageFiles(config);
  const made = await makeRecordedBackup({
    connectionString: database.connectionString,
    files,
    dataDir: config.DATA_DIR,
    folder,
    recipients: encryptTo ?? config.BACKUP_ENCRYPT_TO,
    keep: keep ?? (isOwn ? config.BACKUP_KEEP : null),
    log: createLog(config.LOG_LEVEL),
  });
  if (json) return printJson(made);
  tell(made);
}

function tell({ path, seconds, events, rows, bytes, pictures, removed }: BackupResult): void {
  print(`${path} was made in ${seconds.toFixed(1)} s.`);
  print(`  ${events} events, ${rows} rows in all, ${inMegabytes(bytes)}`);
  print(`  ${pictures.count} images, ${pictures.copied} of them new (${inMegabytes(pictures.copiedBytes)})`);
  if (pictures.lacking > 0) print(`  ${pictures.lacking} images are missing or damaged in the store`);
  for (const name of removed) print(`  removed: ${name}`);
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('Make a backup of the database, the images and the secrets. The service can keep running.')
    .argument('[folder]', 'folder of backups (default: BACKUP_DIR)')
    .option(
      '--keep <number>',
      'remove older backups in the folder, so that this many are left',
      wholeNumber(1),
    )
    .option(
      '--encrypt-to <recipient>',
      'encrypt it for this recipient of age, and for others if it is given again (default: BACKUP_ENCRYPT_TO); only their identities decrypt it',
      (recipient: string, others: readonly string[] = []) => [...others, recipient],
    )
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      `
Images are stored once for all backups of a folder, in its folder pictures (encrypted: pictures-…); copy both to take a backup elsewhere.
Keep .env too: it is not part of the backup.`,
    )
    .action(reporting({ what: 'No backup was made.' }, backup));
}

interface RestoreOptions {
  readonly verifyOnly: boolean;
  readonly identity?: string;
  readonly json: boolean;
}

async function restore(folder: string, { verifyOnly, identity, json }: RestoreOptions): Promise<void> {
  const { findArchive } = await import('../../operations/backup/folder.ts');
  const { readManifest, requireIdentity, verifyArchive } = await import('../../operations/backup/archive.ts');
  const { Decryption } = await import('../../operations/backup/encryption.ts');
  const config = loadConfig();
  const archive = await findArchive(resolve(folder));
  const say = (line: string): void => {
    if (!json) print(line);
  };
  say(`Reading ${archive}.`);
  const decryption = identity === undefined ? null : await Decryption.readFile(resolve(identity));
  // Before everything is read.
  if (!verifyOnly) await requireIdentity(archive, await readManifest(archive), decryption);
  const manifest = await verifyArchive(archive, { decryption });
  const isUndecrypted = manifest.recipients !== undefined && decryption === null;
  const { madeAt, gantryVersion, pictures } = manifest;
  say(
    `  made ${madeAt} by version ${gantryVersion}; ${pictures.count} images (${inMegabytes(pictures.bytes)})`,
  );
  if (verifyOnly) {
    if (json) printJson({ archive, isComplete: true, isDecrypted: !isUndecrypted, madeAt, gantryVersion });
    if (isUndecrypted)
      return say(
        'Its encrypted files are as they were written. Their content was not checked: name --identity.',
      );
    return say('The backup is complete and undamaged. Nothing was restored.');
  }
  const { openTarget } = await import('../../operations/backup/target-store.ts');
  const { openImageFiles } = await import('../../images/blobs.ts');
  const { restoreBackup } = await import('../../operations/backup/restore.ts');
  await using target = await openTarget(config);
  await using files = await openImageFiles(config);
  const restored = await restoreBackup({
    archive,
    manifest,
    decryption,
    connectionString: target.connectionString,
    allowUnsafe: config.ALLOW_UNSAFE_DATABASE,
    files,
    dataDir: config.DATA_DIR,
    log: createLog('error'),
    onStep: (step) => say(`  ${step}`),
  });
  if (json) return printJson({ archive, ...restored });
  print(
    `Restored in ${restored.seconds.toFixed(1)} s: ${restored.events} events, ${restored.rows} rows in all, ${restored.pictures} images.`,
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
    .option('--identity <file>', 'file with the identity of age that decrypts the backup')
    .option('--verify-only', 'check that the backup is complete and undamaged, and restore nothing', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      `
The whole backup is read and checked before anything is changed. If a restore is interrupted, run it again.`,
    )
    .action(reporting({ what: 'Not restored.' }, restore));
}
