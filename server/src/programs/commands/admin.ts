import { role as roleInput } from '@gantry/contract/permissions';
import { createUserInput, email as emailInput, password as passwordInput } from '@gantry/contract/users';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandFailed, print, printJson, reporting, WrongUsage } from './output.ts';

interface PasswordOptions {
  readonly passwordStdin: boolean;
  readonly json: boolean;
}

interface ResetOptions extends PasswordOptions {
  readonly activate: boolean;
  readonly removeSecondFactor: boolean;
}

interface CreateOptions extends PasswordOptions {
  readonly firstName: string;
  readonly lastName: string;
  readonly role: string;
}

/** A parser of an e-mail address, for an argument. @throws InvalidArgumentError */
export function emailOf(text: string): string {
  const parsed = emailInput.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('Use an e-mail address such as jane@example.org.');
}

/** The first line of standard input. */
async function readLine(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString().split(/\r?\n/, 1)[0] ?? '';
}

/** The password to set, and whether it was generated and must be shown. */
async function passwordFor({
  passwordStdin,
}: PasswordOptions): Promise<{ password: string; isNew: boolean }> {
  if (!passwordStdin) {
    const { generatePassword } = await import('../../accounts/passwords.ts');
    return { password: generatePassword(), isNew: true };
  }
  const parsed = passwordInput.safeParse(await readLine());
  const { COMMON_PASSWORD, isCommonPassword } = await import('../../accounts/passwords.ts');
  if (parsed.success && isCommonPassword(parsed.data))
    throw new WrongUsage(`The password ${COMMON_PASSWORD}`);
  if (parsed.success) return { password: parsed.data, isNew: false };
  const flaws = parsed.error.issues.map(({ message }) => message);
  throw new WrongUsage(`The password on standard input is refused: ${flaws.join('; ')}`);
}

async function passwords() {
  const { createPasswords } = await import('../../accounts/passwords.ts');
  return createPasswords();
}

async function resetPassword(email: string, options: ResetOptions): Promise<void> {
  const { password, isNew } = await passwordFor(options);
  const { withDatabase } = await import('./with-database.ts');
  const { resetPasswordByCommand } = await import('../../accounts/by-command.ts');
  const reset = await withDatabase(async ({ db }) =>
    resetPasswordByCommand({ db, passwords: await passwords() }, email, password, options),
  );
  if (reset === null) {
    throw new CommandFailed(
      `There is no user ${email}: check the address, or create an administrator with gantry admin create ${email}`,
    );
  }
  const { user, wasInactive, hadSecondFactor, revokedTokens } = reset;
  if (options.json) {
    const shown = { id: user.id, email: user.email, role: user.role, isActive: user.isActive };
    return printJson(isNew ? { ...shown, password } : shown);
  }
  print(`The password of ${user.email} (${user.role}) was reset, and all sessions of this user have ended.`);
  if (isNew) print(`Password: ${password} (shown this once)`);
  if (revokedTokens > 0) print(`API tokens of this user that were revoked: ${revokedTokens}`);
  if (hadSecondFactor) print('The second factor was removed.');
  if (wasInactive)
    print(
      user.isActive
        ? 'The account was deactivated, and is active again.'
        : 'The account is deactivated, so its user cannot log in: add --activate to change that.',
    );
}

async function create(email: string, options: CreateOptions): Promise<void> {
  const { password, isNew } = await passwordFor(options);
  const { firstName, lastName, role } = options;
  const parsed = createUserInput.safeParse({ email, password, firstName, lastName, role });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new WrongUsage(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { withDatabase } = await import('./with-database.ts');
  const { createUserByCommand } = await import('../../accounts/by-command.ts');
  const { isUniqueViolation } = await import('../../platform/database/failure.ts');
  const user = await withDatabase(async ({ db }) =>
    createUserByCommand({ db, passwords: await passwords() }, parsed.data),
  ).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new CommandFailed(
      `The e-mail ${email} is already in use: choose another one, or use gantry admin reset-password ${email}`,
    );
  });
  if (options.json) {
    const shown = { id: user.id, email: user.email, role: user.role };
    return printJson(isNew ? { ...shown, password } : shown);
  }
  print(`The user ${user.email} (${user.role}) was created.`);
  if (isNew) print(`Password: ${password} (shown this once)`);
}

const STDIN = ['--password-stdin', 'read the password from the first line of standard input', false] as const;
const JSON_OPTION = ['--json', 'print the result as JSON', false] as const;

const NOTE = `
Without --password-stdin, a password is generated and printed. The service may be running or not. The activity log of the
user records the command with the user of the operating system.`;

export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('Create an administrator, or reset a password.');

  admin
    .command('reset-password')
    .description(
      'Set a new password for a user of any role, end all their sessions, and revoke their API tokens.',
    )
    .argument('<e-mail>', 'e-mail address of the user', emailOf)
    .option('--activate', 'also activate the account if it is deactivated', false)
    .option('--remove-second-factor', 'also remove the second factor, for a user who has lost it', false)
    .option(...STDIN)
    .option(...JSON_OPTION)
    .addHelpText('after', NOTE)
    .action(reporting({ what: 'Not reset.' }, resetPassword));

  admin
    .command('create')
    .description('Create a user, by default an administrator.')
    .argument('<e-mail>', 'e-mail address of the user', emailOf)
    .option('--first-name <name>', 'first name', 'New')
    .option('--last-name <name>', 'last name', 'Administrator')
    .addOption(new Option('--role <role>', 'role').choices(roleInput.options).default('ADMIN'))
    .option(...STDIN)
    .option(...JSON_OPTION)
    .addHelpText('after', NOTE)
    .action(reporting({ what: 'Not created.' }, create));
}
