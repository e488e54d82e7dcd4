import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, ConfigError, configKeys, readConfig } from './config.ts';
import { meantBy } from './misspelt.ts';

/** The file with settings, in the current folder. The environment takes precedence over it. */
const FILE = '.env';

/**
 * Reads the settings of this installation, for the service and for all commands: from the environment and from `.env`
 * in the current folder, whose values also become part of the environment.
 * @throws ConfigError naming each wrong setting, and each that seems to be misspelt
 */
export function loadConfig(): Config {
  const file = readFile();
  refuseMisspelt(file, process.env);
  if (file !== null) process.loadEnvFile(FILE);
  return readConfig(process.env);
}

type Settings = Readonly<Record<string, string | undefined>>;

function readFile(): Settings | null {
  if (!existsSync(FILE)) return null;
  try {
    return parseEnv(readFileSync(FILE, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`The file ${resolve(FILE)} cannot be read (${code}): give it to this user`);
  }
}

/**
 * Refuses settings with misspelt names. They would be ignored, and the service might use another database, for example.
 */
function refuseMisspelt(file: Settings | null, environment: Settings): void {
  const known = Object.keys(configKeys);
  const flaws = [
    ...flawsOf(file ?? {}, known, true).map((flaw) => `  ${flaw} (in ${resolve(FILE)})`),
    ...flawsOf(environment, known, false).map((flaw) => `  ${flaw} (in the environment)`),
  ];
  if (flaws.length > 0)
    throw new ConfigError(`There are unknown settings. Correct or remove them:\n${flaws.join('\n')}`);
}

function flawsOf(given: Settings, known: readonly string[], isOurs: boolean): string[] {
  return Object.keys(given).flatMap((name) => {
    const meant = meantBy(name, known, isOurs);
    // If the setting is also given under its right name, it is not lost.
    return meant === null || given[meant] !== undefined ? [] : [`${name} is unknown: did you mean ${meant}?`];
  });
}
