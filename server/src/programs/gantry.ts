import { Command } from 'commander';
import { longVersion } from '../platform/installation.ts';
import { untilSignalled } from '../platform/process/own-process.ts';
import { addAdmin } from './commands/admin.ts';
import { addBackup, addRestore } from './commands/backup.ts';
import { addDatabase } from './commands/database.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEvents } from './commands/events.ts';
import { addEvidence } from './commands/evidence.ts';
import { addGateway } from './commands/gateway.ts';
import { addMail } from './commands/mail.ts';
import { addMap } from './commands/map.ts';
import { addMoveTo } from './commands/move-to.ts';
import { exitCodes, reportFailure } from './commands/output.ts';
import { addPrivacy } from './commands/privacy.ts';
import { addSimulator, addStart } from './commands/start.ts';

/** Commands that handle signals themselves and end when they are asked to stop. */
const LONG_RUNNING = ['start', 'demo', 'simulate'];

/**
 * Commands that end when nobody reads their output any more. The others continue without output, because they must not
 * stop in the middle of a change, and their exit code says whether it was made.
 */
const ONLY_OUTPUT = [...LONG_RUNNING, 'export'];

const program = new Command('gantry')
  .description('Gantry, a traffic management service: runs it, and looks after an installation.')
  .version(longVersion)
  .addHelpText(
    'after',
    `
Settings are read from .env in the current folder and from the environment; docs/configuration.md describes them.
Exit codes: 0 done, 1 failed or found something that has to be corrected, 2 wrong usage.`,
  )
  .showHelpAfterError('(--help lists the commands and options)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCodes.done : exitCodes.usage));

addStart(program);
addSimulator(program);
addDatabase(program);
addAdmin(program);
addDoctor(program);
addEvents(program);
addBackup(program);
addRestore(program);
addMoveTo(program);
addGateway(program);
addMail(program);
addEvidence(program);
addPrivacy(program);
addMap(program);

program.hook('preAction', (_program, command) => {
  isReaderNeeded = ONLY_OUTPUT.includes(command.name());
  if (command.parent === program && LONG_RUNNING.includes(command.name())) return;
  // The embedded database, if this process started it, is stopped when the process exits.
  void untilSignalled().then(() => process.exit(130));
});

let isReaderNeeded = true;
let isOutputLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may end first, as `head` does.
  if (error.code === 'EPIPE') {
    if (isReaderNeeded) process.exit(exitCodes.done);
    return;
  }
  if (!isOutputLost) process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
  isOutputLost = true;
  if (isReaderNeeded) process.exit(exitCodes.failed);
  process.exitCode = exitCodes.failed;
});

program.parseAsync().catch(reportFailure);
