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
  /** Whether the output is a terminal; otherwise it may be a stored log. */
  readonly isTerminal: boolean;
}

/** The lines printed once the service is listening. A generated password is shown only on a terminal. */
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
