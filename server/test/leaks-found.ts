import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Text that no log line may contain, with the name under which it is reported. */
const FORMS: readonly (readonly [string, RegExp])[] = [
  ['password hash', /\$argon2/],
  ['parameters of a statement', /Failed query:|"params":/],
];

const readAll = async (folder: string, ending: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
};

/** The kinds of secrets found in the logs of the services of a run, each with a line that contains it. */
export const findLeaks = async (folder: string): Promise<string[]> => {
  const log = await readAll(folder, '.log');
  const secrets = (await readAll(folder, '.secrets'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line): [string, string] => JSON.parse(line));
  const leaks = new Map<string, string>();
  const report = (kind: string, at: number): void => {
    if (!leaks.has(kind)) leaks.set(kind, log.slice(log.lastIndexOf('\n', at) + 1).split('\n')[0] ?? '');
  };
  for (const [kind, form] of FORMS) {
    const at = log.search(form);
    if (at !== -1) report(kind, at);
  }
  for (const [kind, secret] of secrets) {
    // The log is JSON, in which secrets are escaped.
    const at = log.indexOf(JSON.stringify(secret).slice(1, -1));
    if (at !== -1) report(kind, at);
  }
  return [...leaks].map(([kind, line]) => `${kind}: ${line.slice(0, 500)}`);
};
