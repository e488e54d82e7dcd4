import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { FoundPlace, FoundPlate } from '../../operations/privacy/find.ts';
import type { PrivacyParts } from '../../operations/privacy/search.ts';
import { exitCodes, print, printJson, reporting, WrongUsage } from './output.ts';

interface PlateOptions {
  readonly plate: string;
  readonly json: boolean;
}

/** Runs `work` with what a search for a plate needs. @throws WrongUsage when the plate cannot be searched for */
async function withPlate<Result>(
  { plate }: PlateOptions,
  work: (parts: PrivacyParts) => Promise<Result>,
): Promise<Result> {
  const { refusalOf } = await import('../../operations/privacy/plate-texts.ts');
  const refusal = refusalOf(plate);
  if (refusal !== null) throw new WrongUsage(refusal);
  const { withDatabase } = await import('./with-database.ts');
  const { openImageFiles } = await import('../../images/blobs.ts');
  return withDatabase(async ({ db, config }) => {
    await using files = await openImageFiles(config);
    return await work({
      db,
      files,
      dataDir: config.DATA_DIR,
      backupDir: config.BACKUP_DIR,
      backupKeep: config.BACKUP_KEEP,
      onProgress: (table, rows) => {
        if (process.stderr.isTTY) process.stderr.write(`\r${table}: ${rows} rows read\u001b[K`);
      },
    });
  }).finally(() => {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  });
}

const SHOWN = 5;
const FATES: Readonly<Record<FoundPlace['fate'], string>> = {
  erased: '',
  lists: ' (an entry of a list: erased only with --lists)',
  shared: ' (an incident, a fault, a case or another event has it too: not erased)',
  kept: ' (part of a name, a setting or a file: not erased, change it by hand)',
};

function tell({ places, holds, backups, erasures }: FoundPlate): void {
  for (const { place, count, fate, ids } of places) {
    print(`${place.padEnd(22)} ${String(count).padStart(8)}${FATES[fate]}`);
    for (const id of ids.slice(0, SHOWN)) print(`    ${id}`);
    if (count > SHOWN) print(`    and ${count - SHOWN} more: --json names the first thousand`);
  }
  if (places.length === 0) print('Nothing is stored about this plate.');
  for (const { id, reason, events } of holds)
    print(`Legal hold ${id} keeps ${events} of the events: ${reason}`);
  for (const { path, backupsLeft } of backups) {
    const until =
      backupsLeft === null ? 'until somebody removes it' : `until ${backupsLeft} more have been made`;
    print(`Backup ${path} contains it and is kept ${until}`);
  }
  for (const { id, finishedAt, startedAt, requestedBy } of erasures) {
    print(
      finishedAt === null
        ? `Erasure ${id}, started ${startedAt} by ${requestedBy}, was interrupted: the command erase continues it`
        : `Erased ${finishedAt} by ${requestedBy}: erasure ${id}`,
    );
  }
}

async function find(options: PlateOptions & { readonly reason?: string }): Promise<void> {
  const { findPlate } = await import('../../operations/privacy/find.ts');
  const found = await withPlate(options, (parts) => findPlate(parts, options.plate, options.reason ?? null));
  if (!options.json) return tell(found);
  const erasures = found.erasures.map(({ salt, proof, ...erasure }) => ({
    ...erasure,
    salt: salt.toString('hex'),
    proof: proof.toString('hex'),
  }));
  printJson({ ...found, erasures });
}

async function exportTo(folder: string, options: PlateOptions & { readonly reason: string }): Promise<void> {
  const { exportPlate } = await import('../../operations/privacy/export.ts');
  const made = await withPlate(options, (parts) =>
    exportPlate(parts, options.plate, { folder: resolve(folder), reason: options.reason }),
  );
  if (options.json) return printJson(made);
  print(`${made.folder}: ${made.events} events, ${made.texts} other records and ${made.images} images`);
  if (made.lackingImages > 0) print(`  ${made.lackingImages} images are missing or damaged in the store`);
}

interface EraseOptions extends PlateOptions {
  readonly reason: string;
  readonly lists: boolean;
  readonly exceptHeld: boolean;
  readonly yes: boolean;
}

async function erase(options: EraseOptions): Promise<void> {
  if (!options.yes) {
    throw new WrongUsage(
      'What is erased cannot be brought back: look at it with gantry privacy find first, and add --yes',
    );
  }
  const { erasePlate } = await import('../../operations/privacy/erase.ts');
  const { erasureId, counts, left, held, sharedImages } = await withPlate(options, (parts) =>
    erasePlate(parts, options.plate, {
      reason: options.reason,
      withLists: options.lists,
      exceptHeld: options.exceptHeld,
    }),
  );
  if (held + sharedImages.length > 0 || Object.keys(left).length > 0) process.exitCode = exitCodes.failed;
  if (options.json) return printJson({ erasureId, counts, left, held, sharedImages });
  if (erasureId === null) print('Nothing to erase is stored about this plate.');
  else print(`Erased (${erasureId}):`);
  for (const [place, count] of Object.entries(counts))
    print(`  ${place.padEnd(22)} ${String(count).padStart(8)}`);
  for (const [place, count] of Object.entries(left)) {
    print(`Not erased: ${count} in ${place}; gantry privacy find names them and says why`);
  }
  for (const { sha256, of, id } of sharedImages)
    print(`Not erased: the image ${sha256}, which the ${of} ${id} has too`);
  if (held > 0) {
    print(
      `Not erased: ${held} events under a legal hold, and the texts, which may be about them. Run this again after its release`,
    );
  }
}

export function addPrivacy(program: Command): void {
  const privacy = program
    .command('privacy')
    .description('Find, hand out and erase what is stored about one plate. The service can keep running.');
  const command = (name: string, description: string) =>
    privacy
      .command(name)
      .description(description)
      .requiredOption('--plate <plate>', 'the plate, in any spelling with the same letters and digits')
      .option('--json', 'print the result as JSON', false);
  command('find', 'Count and name every record, file and backup that contains the plate.')
    .option('--reason <text>', 'why, for the activity log')
    .action(reporting({ what: 'Not searched.' }, find));
  command('export', 'Write what is stored about the plate into a new folder, for a person who asks for it.')
    .argument('<folder>', 'the folder')
    .requiredOption('--reason <text>', 'why, for the activity log, such as the number of the request')
    .action(reporting({ what: 'Not exported.' }, exportTo));
  command('erase', 'Erase what is stored about the plate. Counts of traffic and events stay.')
    .requiredOption('--reason <text>', 'why, for the proof, such as the number of the request')
    .option('--lists', 'remove the plate from the watchlist and from hotlists too', false)
    .option('--except-held', 'erase the other events if some are under a legal hold', false)
    .option('--yes', 'erase, without asking', false)
    .addHelpText(
      'after',
      '\nIf it is interrupted, run it again. Exits with 1 if something names the plate and could not be erased.',
    )
    .action(reporting({ what: 'Not erased.' }, erase));
}
