import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Says which build this is: `node server/version.js` prints it as JSON.

const root = fileURLToPath(new URL('../', import.meta.url));

/** `git archive` writes the commit and its date into these (.gitattributes). */
const ARCHIVED = { commit: '$Format:%H$', date: '$Format:%cI$' };

const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * The build of this checkout. `package.json` names the next release, so a commit without the tag of that release is older
 * than it: `0.2.0-git20261126t2145.2ec4c71`, by the time of the commit in UTC. The build of the release itself is
 * `0.2.0+git20261126t2145.2ec4c71`. `.changed` is added for files that are not committed. Without git or an archive of it,
 * the environment variable GANTRY_BUILD has what this program printed elsewhere.
 * @returns {{ version: string, commit: string | null, date: string | null }}
 */
export function describeBuild() {
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  if (process.env.GANTRY_BUILD) return JSON.parse(process.env.GANTRY_BUILD);
  if (!ARCHIVED.commit.startsWith('$'))
    return describe(version, ARCHIVED.commit, ARCHIVED.date, false, false);
  try {
    // A copy without a repository of its own, below somebody else's.
    if (git('rev-parse', '--show-prefix') !== '') throw new Error('not the root of a repository');
    const [commit, date] = git('log', '-1', '--format=%H %cI').split(' ');
    const isRelease = git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`);
    return describe(
      version,
      commit,
      date,
      isRelease,
      git('--no-optional-locks', 'status', '--porcelain') !== '',
    );
  } catch {
    return { version: `${version}-unknown`, commit: null, date: null };
  }
}

function describe(version, commit, date, isRelease, isChanged) {
  const time = new Date(date).toISOString().replace(/[-:]/g, '').slice(0, 13).toLowerCase();
  // Seven characters, unless they are a number with leading zeros, which semantic versions do not allow.
  const length = /^0\d{6}$/.test(commit.slice(0, 7)) ? commit.search(/[a-f]/) + 1 : 7;
  const build = `git${time}.${commit.slice(0, Math.max(7, length))}${isChanged ? '.changed' : ''}`;
  const isExact = isRelease && !isChanged;
  return { version: `${version}${isExact ? '+' : '-'}${build}`, commit, date };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${JSON.stringify(describeBuild())}\n`);
