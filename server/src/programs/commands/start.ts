import type { Command } from 'commander';
import { mainProgram } from '../../platform/installation.ts';

export function addStart(program: Command): void {
  program
    .command('start')
    .description('Start the service with the settings of .env in the current folder and of the environment.')
    .addHelpText(
      'after',
      `
The service runs until it receives SIGINT (Ctrl-C), SIGTERM or SIGHUP. It then finishes the requests that it accepted, and
stops the embedded database. A second signal, more than two seconds after the first, ends it at once.
docs/configuration.md describes the settings.`,
    )
    .action(async () => {
      await import(mainProgram.href);
    });
}
