import { existsSync, readFileSync } from 'node:fs';
import { type Config, ConfigError, readConfig } from './config.ts';

/** The file with settings, in the current folder. The environment takes precedence over it. */
const FILE = '.env';

/**
 * Reads the settings of this installation, for the service and for all commands: from the environment and from `.env`
 * in the current folder, whose values also become part of the environment.
 * @throws ConfigError naming each wrong setting
 */
export function loadConfig(): Config {
  loadFile();
  return readConfig(process.env);
}

function loadFile(): void {
  if (!existsSync(FILE)) return;
  try {
    readFileSync(FILE);
  } catch (cause) {
    throw new ConfigError(`The file ${FILE} in ${process.cwd()} cannot be read: give it to this user`, {
      cause,
    });
  }
  process.loadEnvFile(FILE);
}
