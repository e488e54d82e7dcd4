import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { demoProgram, mainProgram, simulateProgram } from '../../platform/installation.ts';
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

// The simulator reaches the service only over the network. It is built as programs of its own, which these commands
// load with the arguments that follow.

/** What a program of the simulator exports. */
interface Program {
  /** @param args its arguments @param service the arguments of Node that start a service, for the demo */
  readonly run: (args: readonly string[], service: readonly string[]) => Promise<void>;
}

function add(program: Command, name: string, description: string, file: URL): void {
  program
    .command(name)
    .description(description)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_options: unknown, command: Command) => {
      const { run } = (await import(file.href)) as Program;
      await run(command.args, [...process.execArgv, gantry(), 'start']);
    });
}

/** The file that was started, which a demo starts once more as its service. */
function gantry(): string {
  return process.argv[1] ?? fileURLToPath(import.meta.url);
}

export function addSimulator(program: Command): void {
  add(
    program,
    'demo',
    'Start a service of its own, with sensors, events and users to try it with.',
    demoProgram,
  );
  add(program, 'simulate', 'Let virtual sensors report to a service that runs.', simulateProgram);
}
