import type { Command } from 'commander';
import { emailOf } from './admin.ts';
import { CommandFailed, exitCodes, print, printJson, reporting } from './output.ts';

async function test(to: string, { json }: { readonly json: boolean }): Promise<void> {
  const { loadConfig } = await import('../../platform/load-config.ts');
  const { createLog } = await import('../../platform/log.ts');
  const { machineTime } = await import('../../platform/machine-time.ts');
  const { createMailer, mailSettings } = await import('../../platform/mail.ts');
  const { TIMINGS } = await import('../../platform/timings.ts');
  const config = loadConfig();
  // What fails is printed, not logged.
  const log = createLog('silent');
  const settings = { ...(await mailSettings(config)), now: machineTime, limitMs: TIMINGS.mailMs };
  await using mailer = createMailer(settings, log);
  const text = `This message was sent by "gantry mail test".\n\nIf you can read it, Gantry can send e-mail to ${to}.`;
  const result = await mailer.send({ to, subject: 'Gantry: test of e-mail', text });
  if (json) {
    printJson({ to, ...result });
    if (!result.accepted) process.exitCode = exitCodes.failed;
    return;
  }
  if (!result.accepted)
    throw new CommandFailed(`${result.reason}${mailer.isConfigured ? `\n${remedyOf(result)}` : ''}`);
  print(`The mail server took the message to ${to}: ${result.response}`);
  print('If it does not arrive, look at the folder for spam and at the log of the mail server.');
}

function remedyOf({ isPermanent }: { readonly isPermanent: boolean }): string {
  return isPermanent
    ? 'The mail server refused the recipient or the message for good: check the address, and whether SMTP_FROM may send to it.'
    : 'Check SMTP_URL and SMTP_CA_FILE, and whether the mail server can be reached from here. It may also ask to try again later.';
}

export function addMail(program: Command): void {
  program
    .command('mail')
    .description('Send a message to find out whether e-mail works.')
    .command('test')
    .description('Send a message to an address, and print what the mail server answers.')
    .argument('<e-mail>', 'e-mail address of the recipient', emailOf)
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      '\nUses SMTP_URL, SMTP_FROM and SMTP_CA_FILE as the service does. The service may be running or not, and the database is not used.',
    )
    .action(reporting({ what: 'Not sent.' }, test));
}
