import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { closestMatch } from 'leven';
import { type Config, ConfigError, configKeys, readConfig } from './config.ts';

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

/** How many letters of a name may be wrong, missing or too many: in short names fewer, because they resemble others. */
function mostErrors({ length }: string): number {
  return length < 6 ? 0 : length < 8 ? 1 : 2;
}

function bare(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

function isSwapped(one: string, other: string): boolean {
  return one.length === other.length && [...one].sort().join('') === [...other].sort().join('');
}

/**
 * The name that was probably meant by one that is not known; null if it resembles none.
 * @param known the right names, in upper case
 * @param isOurs whether the name was certainly meant for us, so that short names and our prefix are considered too
 */
export function meantBy(name: string, known: readonly string[], isOurs: boolean): string | null {
  if (known.includes(name)) return null;
  const upper = name.toUpperCase();
  const same = known.find((right) => bare(right) === bare(name));
  if (same !== undefined && (isOurs || mostErrors(upper) > 0)) return same;
  const maxDistance = Math.max(mostErrors(upper), isOurs ? 1 : 0);
  if (maxDistance > 0) {
    const closest = closestMatch(upper, known, { maxDistance });
    if (closest !== undefined) return closest;
  }
  if (!isOurs) return null;
  const unprefixed = known.find((right) => upper === `GANTRY_${right}`);
  return unprefixed ?? known.find((right) => isSwapped(right, upper)) ?? null;
}
