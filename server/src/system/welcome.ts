import { version } from '../installation.ts';
import type { Config } from '../platform/config.ts';

export interface WelcomeParts {
  readonly config: Pick<Config, 'NODE_ENV'>;
  readonly service: {
    /** The administrator that this start created; null when there was one already. */
    readonly firstAdministrator: {
      readonly email: string;
      readonly password: string | null;
      readonly passwordFile: string | null;
    } | null;
  };
  readonly url: string;
  /** Whether a person reads the output: what is not a terminal may be a log that is kept. */
  readonly isTerminal: boolean;
}

/** What is printed once the service listens, in lines. A generated password is shown on a terminal only. */
export function welcome({
  config,
  service: { firstAdministrator },
  url,
  isTerminal,
}: WelcomeParts): string[] {
  const lines = [
    `Gantry ${version} listens on ${url}`,
    `  API: ${url}/trpc · documentation: ${url}/docs · health: ${url}/ready`,
  ];
  if (!firstAdministrator) return lines;
  const { email, password, passwordFile } = firstAdministrator;
  lines.push(`  Administrator: ${email}`);
  if (password && isTerminal) lines.push(`  Password: ${password} (shown this once)`);
  lines.push(
    passwordFile
      ? `  The password is kept in ${passwordFile}`
      : '  The password is the one in ADMIN_PASSWORD',
  );
  if (config.NODE_ENV === 'production' && passwordFile) lines.push('  Change it and remove that file.');
  return lines;
}
