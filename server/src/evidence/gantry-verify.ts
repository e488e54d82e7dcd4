import { existsSync, readFileSync } from 'node:fs';
import { expectedKeys, tellVerdict, verifyPackage } from './verify-package.ts';

// The program gantry-verify.mjs, which anybody can run with Node.js alone: server/build.js makes one file of it, without
// libraries, and the service offers it at /evidence/gantry-verify.mjs.

const USAGE = `Usage: node gantry-verify.mjs [--key <file or id>] [--json] <package.zip>

Verifies an evidence package. --key names the key of the service: its id, a public key (PEM), or the answer of
/.well-known/gantry-seal.json as a file. Exits with 0 if the package is verified, with 1 if it is not, and with 2 if it
could not be read.
`;

function run(given: readonly string[]): number {
  const rest = [...given];
  const json = rest.includes('--json');
  const at = rest.indexOf('--key');
  const [, key] = at === -1 ? [] : rest.splice(at, 2);
  const [path, ...others] = rest.filter((each) => each !== '--json');
  if (path === undefined || path.startsWith('-') || others.length > 0 || (at !== -1 && key === undefined)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const expected = key === undefined ? null : expectedKeys(existsSync(key) ? readFileSync(key, 'utf8') : key);
  const verdict = verifyPackage(path, expected);
  process.stdout.write(
    json ? `${JSON.stringify(verdict, null, 2)}\n` : `${tellVerdict(verdict).join('\n')}\n`,
  );
  return verdict.verified ? 0 : 1;
}

try {
  process.exitCode = run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`Not verified: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
