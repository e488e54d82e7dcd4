import { isBlockedPort } from '@gantry/contract/blocked-ports';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { version } from '../platform/installation.ts';

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
}

/** A warning about a port to which browsers refuse to connect; null for any other port. */
function portWarning(url: string): string | null {
  const port = Number(new URL(url).port);
  if (!isBlockedPort(port)) return null;
  return `Browsers refuse to connect to port ${port}, so the console cannot be opened there: choose another PORT`;
}

/**
 * Logs that the service is listening, for output that is no terminal and may be stored. It is logged whatever the log
 * level, and never contains a password or an e-mail address.
 */
export function logWelcome({ service: { firstAdministrator }, url }: WelcomeParts, log: Logger): void {
  const { passwordFile } = firstAdministrator ?? {};
  const administrator = firstAdministrator ? 'created' : 'existing';
  const fields = { url, version, administrator, ...(passwordFile && { passwordFile }) };
  const always = log.child({}, { level: 'info' });
  always.info(fields, `Gantry ${version} listens on ${url}`);
  const warning = portWarning(url);
  if (warning) always.warn(warning);
}

/** The lines shown on a terminal once the service is listening, with a generated password. */
export function welcome({ config, service: { firstAdministrator }, url }: WelcomeParts): string[] {
  const lines = [
    `Gantry ${version} listens on ${url}`,
    `  API: ${url}/trpc · documentation: ${url}/docs · health: ${url}/ready`,
  ];
  const warning = portWarning(url);
  if (warning) lines.push(`  ${warning}`);
  if (!firstAdministrator) return lines;
  const { email, password, passwordFile } = firstAdministrator;
  lines.push(`  Administrator: ${email}`);
  if (password) lines.push(`  Password: ${password} (shown this once)`);
  lines.push(
    passwordFile
      ? `  The password is kept in ${passwordFile}`
      : '  The password is the one in ADMIN_PASSWORD',
  );
  if (config.NODE_ENV === 'production' && passwordFile) lines.push('  Change it and remove that file.');
  return lines;
}
