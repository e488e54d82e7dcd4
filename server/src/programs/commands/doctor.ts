import type { DoctorReport, Finding } from '@gantry/contract/doctor';
import type { Command } from 'commander';
import { exitCodes, messageOf, print, printJson } from './output.ts';

const SIGNS = { PROBLEM: 'PROBLEM', ADVICE: 'advice ', OK: 'ok     ' } as const;

function tell({ findings, isHealthy }: DoctorReport): void {
  for (const { level, finding, remedy } of findings) {
    print(`${SIGNS[level]}  ${finding}`);
    if (remedy !== null) print(`         ${remedy}`);
  }
  print(isHealthy ? '\nThere are no problems.' : '\nThe problems above must be corrected.');
}

/** The findings about the database, or why nothing can be said about it. */
async function checkDatabase(): Promise<Finding[]> {
  const { withDatabase } = await import('./with-database.ts');
  const { checkData } = await import('../../operations/doctor/diagnose.ts');
  const { problem } = await import('../../operations/doctor/findings.ts');
  try {
    return await withDatabase(({ db, config }) => checkData(db, config));
  } catch (error) {
    return [problem('databaseUnreachable', { reason: messageOf(error) })];
  }
}

async function doctor({ json }: { readonly json: boolean }): Promise<void> {
  const { loadConfig } = await import('../../platform/load-config.ts');
  const { checkMachine } = await import('../../operations/doctor/diagnose.ts');
  const { problem, reportOf } = await import('../../operations/doctor/findings.ts');
  const findings: Finding[] = [];
  try {
    findings.push(...(await checkMachine(loadConfig())), ...(await checkDatabase()));
  } catch (error) {
    findings.push(problem('settingsUnusable', { reason: messageOf(error) }));
  }
  const report = reportOf(findings);
  if (json) printJson(report);
  else tell(report);
  if (!report.isHealthy) process.exitCode = exitCodes.failed;
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Say what is wrong with this installation, and what to do about it.')
    .option('--json', 'print the findings as JSON', false)
    .addHelpText(
      'after',
      `
Checks Node.js, the settings, the data folder, the database and the work of the service, which may be running or not.
Changes nothing. Exits with 1 if something must be corrected (PROBLEM).`,
    )
    .action(doctor);
}
