import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SealFault } from '@gantry/contract/evidence';
import type { Command } from 'commander';
import { exitCodes, isoTime, print, printJson, reporting, WrongUsage } from './output.ts';

interface CheckOptions {
  readonly since?: string;
  readonly json: boolean;
}

const SAYS: Readonly<Record<SealFault['fault'], string>> = {
  GAP: 'the seal is missing',
  CHAIN: 'the seal does not name the one before',
  TEXT: 'the seal was changed',
  ROOT: 'the hashes of the seal were changed',
  KEY: 'the key of the seal is unknown or was changed',
  SIGNATURE: 'the seal is not signed by its key',
  CHANGED: 'the record was changed',
  MISSING: 'the record is missing, and neither retention nor a user removed it',
  CHECKPOINT: 'the checkpoint in the data folder belongs to another chain',
};

const NAMES = {
  KEY: 'key',
  EVENT: 'event',
  ACTIVITY: 'entry of the activity log',
  LOG: 'entry of the log',
  CASE_LOG: 'entry of the log of a case',
  CERTIFICATE: 'certificate',
} as const;

function tell({ fault, seq, kind, recordId }: SealFault): void {
  const record = recordId === null ? '' : `, ${kind === null ? 'file' : NAMES[kind]} ${recordId}`;
  print(`${fault.padEnd(10)} seal ${seq}${record}: ${SAYS[fault]}`);
}

async function check({ since, json }: CheckOptions): Promise<void> {
  const { timeOf, withDatabase } = await import('./with-database.ts');
  const { checkCheckpoints, checkSeals } = await import('../../evidence/check.ts');
  const { CHECKPOINTS } = await import('../../evidence/start.ts');
  const { firstSealSince, storeCheck } = await import('../../evidence/store.ts');
  await withDatabase(async ({ db, config }) => {
    const from = await timeOf(since, db);
    const first = from === null ? 1 : await firstSealSince(db, from);
    const checked = first === null ? null : await checkSeals(db, { from: first });
    const faults = [
      ...(checked?.faults ?? []),
      ...(await checkCheckpoints(db, join(config.DATA_DIR, CHECKPOINTS))),
    ];
    const { seals, records, erased } = checked ?? { seals: 0, records: 0, erased: 0 };
    if (first === 1) await storeCheck(db, { checked: seals, nextSeq: 1, faults });
    if (json) printJson({ seals, records, erased, faults });
    else {
      for (const fault of faults) tell(fault);
      if (seals === 0 && faults.length === 0)
        print(`No seal was made${since === undefined ? '' : ` since ${since}`}, so nothing was checked`);
      else
        print(
          `${seals} seals of ${records} records${erased === 0 ? '' : ` (${erased} of them erased for a person)`}: ${faults.length === 0 ? 'nothing was changed' : `${faults.length} differences`}`,
        );
    }
    if (faults.length > 0) process.exitCode = exitCodes.failed;
  });
}

interface VerifyOptions {
  readonly key?: string;
  readonly json: boolean;
}

async function verify(path: string, { key, json }: VerifyOptions): Promise<void> {
  const { expectedKeys, tellVerdict, verifyPackage } = await import('../../evidence/verify-package.ts');
  const file = (given: string): string => (existsSync(given) ? readFileSync(given, 'utf8') : given);
  let expected: string[] | null = null;
  try {
    expected = key === undefined ? null : expectedKeys(file(key));
  } catch (cause) {
    throw new WrongUsage(
      `--key ${key} is neither a file with public keys nor the id of one (32 hexadecimal digits)`,
      { cause },
    );
  }
  if (!existsSync(path)) throw new WrongUsage(`There is no file ${path}`);
  const verdict = verifyPackage(path, expected);
  if (json) printJson(verdict);
  else for (const line of tellVerdict(verdict)) print(line);
  if (!verdict.verified) process.exitCode = exitCodes.failed;
}

export function addEvidence(program: Command): void {
  const evidence = program
    .command('evidence')
    .description('Check that what was recorded has not been changed.');
  evidence
    .command('check')
    .description(
      'Recompute all seals and the records that they seal, and name each that differs. The service can keep running.',
    )
    .option('--since <time>', 'only seals made since then; those before are taken for right', isoTime)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExits with 1 if anything differs, and with 2 if it could not check.')
    .action(reporting({ what: 'Not checked.', code: exitCodes.usage }, check));
  evidence
    .command('verify')
    .description('Verify an evidence package, without a database or settings, as gantry-verify.mjs does.')
    .argument('<package>', 'the ZIP file')
    .option(
      '--key <file or id>',
      'the key of the service: its id, a PEM file, or a copy of /.well-known/gantry-seal.json',
    )
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      '\nExits with 1 if the package is not verified, and with 2 if it could not be read.',
    )
    .action(reporting({ what: 'Not verified.', code: exitCodes.usage }, verify));
}
