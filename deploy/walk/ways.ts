import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../npm/manifests.ts';

/** Records of the past, whose commands are those of their time. */
const RECORDS = /^CHANGELOG\.md$|^docs\/decisions\/|^bench\/results\//;

/** The pages whose commands are tried: all documents of the repository. */
export const PAGES = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((page) => !RECORDS.test(page) && existsSync(join(root, page)));

/** How a command of the documentation is tried. */
export type Way =
  /** It ends by itself, with one of `codes`, by default 0. */
  | { readonly how: 'run'; readonly instead?: string; readonly codes?: readonly number[] }
  /** It serves until it is stopped. With `inProject`, in the same project as below. */
  | { readonly how: 'serve'; readonly inProject?: boolean }
  /** It is run in a project that is empty at first, beside the files of the npm packages, after all others. */
  | { readonly how: 'project'; readonly instead?: string }
  /** It cannot be tried here, for the reason given. */
  | { readonly how: 'skip'; readonly why: string };

const skip = (why: string): Way => ({ how: 'skip', why });

const ELSEWHERE = 'it is tried by a test of its own';
const OTHER_PROGRAM = 'it needs a program or a machine that is not part of the repository';

/**
 * How commands are tried. The first pattern that matches a command applies. A command without a match fails the walk, so that
 * an entry is added for it. `instead` is run in place of a command that cannot be run as it is, such as one with `<file>`.
 */
export const WAYS: readonly (readonly [RegExp, Way])[] = [
  [/^npm ci(?: --omit=dev)? && npm start$|^npm start$|^gantry start$/, { how: 'serve' }],
  [
    /^(npm run demo|gantry demo)$/,
    skip(
      'it fills a month of history, which takes minutes; `npm run bench` and the tests of the simulator do that',
    ),
  ],
  [/^npm ci$/, skip('what was installed is there already')],
  [/^node_modules\/\.bin\/gantry start$/, { how: 'serve', inProject: true }],
  [/^node_modules\/\.bin\/gantry --help$/, { how: 'project' }],
  [
    /^npm install (?:\.\/gantry-contract-\*\.tgz )?\.\/gantry-client-\*\.tgz|^npm install \.\/gantry-contract-\*\.tgz \.\//,
    {
      how: 'project',
      instead: `npm install ./gantry-contract-*.tgz ./gantry-client-*.tgz && node --input-type=module -e "import { createGantryClient } from '@gantry/client'; createGantryClient('http://127.0.0.1:9')"`,
    },
  ],
  [/^npm install \.\/gantry-\w+-\*\.tgz$/, { how: 'project' }],
  [
    /^npm install \.\/gantry-service-<version>\.tgz$/,
    { how: 'project', instead: 'npm install ./gantry-service-*.tgz' },
  ],
  [/^npm uninstall gantry$/, { how: 'project' }],
  [
    /node_modules\/\.bin\/gantry-edge /,
    {
      how: 'project',
      instead: `printf '' | GANTRY_API_KEY=${'0'.repeat(64)} node_modules/.bin/gantry-edge --url http://127.0.0.1:9`,
    },
  ],
  [/^gantry-edge$|^gantry-edge --help$/, { how: 'project', instead: 'node_modules/.bin/gantry-edge --help' }],
  [/^node server\/version\.js$|^gantry --version$/, { how: 'run' }],
  [/^npm run (?:verify|format|generate|walk:docs)$/, skip('it is a step of `.ci/run`, or this program')],
  [/^npx vitest run /, skip('it is a part of the test suite')],
  [/^npm run screenshots /, skip('it replaces the images of the documents, with a browser')],
  [/^npm run release/, skip(`${ELSEWHERE}: deploy/test/release.test.ts`)],
  [
    /^(?:npm run demo|node_modules\/\.bin\/gantry demo)(?: |$)/,
    skip('it fills days of history, which takes minutes'),
  ],
  [/^npm run simulate -- --/, { how: 'run', instead: 'npm run simulate -- --help' }],
  [/^gantry map import( <file>)?$/, { how: 'run', instead: 'npm run gantry -- map import --help' }],
  [/^gantry map show$/, { how: 'run' }],
  // There are no roads on the map, with exit code 1.
  [/^gantry map remove$/, { how: 'run', codes: [1] }],
  [/^gantry mail test </, { how: 'run', instead: 'npm run gantry -- mail test --help' }],
  [/^(?:npm run gateway -- try|gantry gateway)(?: |$)/, { how: 'run', instead: 'npm run gateway -- --help' }],
  [/^openssl |^sha256sum /, skip(`${ELSEWHERE}: deploy/test/release.test.ts`)],
  [/^npm test$|^npm ci && npm test$|^npm run test(:\w+)?(?: -- .*)?$/, skip('it is the test suite itself')],
  [/^npm run bench\b/, skip('benchmarks take many minutes')],
  [
    /^(npm run simulate -- --sensors 20|npm run simulate|gantry simulate)$/,
    { how: 'run', instead: 'npm run simulate -- --help' },
  ],
  [/^npm run (?:build:console|size)$/, { how: 'run' }],
  [
    /^GANTRY_API=\S+ npm run build:console$/,
    skip('it builds the console for another origin than the one tried'),
  ],
  [/^npm run package:npm$/, { how: 'run' }],
  [
    /^npm run package:npm && npm run package:deb$|^npm run package:deb$|^apt install|^sudo gantry/,
    skip(`${ELSEWHERE}: deploy/debian/test.sh`),
  ],
  [/^promtool test rules/, skip(`${ELSEWHERE}: server/test/monitoring.test.ts`)],
  [/^npm run db:check$|^gantry db check$/, { how: 'run' }],
  [/^gantry evidence check( --since \S+)?$/, { how: 'run' }],
  // The way of `docs/evidence.md` is followed by server/test/evidence-packages.test.ts.
  [
    /^node gantry-verify\.mjs |^gantry evidence verify/,
    skip(`${ELSEWHERE}: server/test/processes/evidence.test.ts`),
  ],
  // It exits with 1 if it finds something that stays.
  [
    /^gantry privacy (find|export|erase)\b/,
    { how: 'run', instead: 'gantry privacy find --plate "34 ABC 123"', codes: [0, 1] },
  ],
  [/^gantry db rebuild( <what>)?$/, { how: 'run', instead: 'gantry db rebuild totals' }],
  // It refuses the embedded database, with exit code 1.
  [/^npm run db:distribute( -- --dry-run)?$|^gantry db distribute$/, { how: 'run', codes: [1] }],
  [
    /^npm run gantry -- (<command>|--help)$|^gantry <command>$/,
    { how: 'run', instead: 'npm run gantry -- --help' },
  ],
  [/^npm run gateway$|^gantry gateway try/, { how: 'run', instead: 'npm run gateway -- --help' }],
  [
    /^gantry admin reset-password( <e-mail>)?$/,
    { how: 'run', instead: 'gantry admin reset-password admin@gantry.local' },
  ],
  [/^gantry admin create <e-mail>$/, { how: 'run', instead: 'gantry admin create second@gantry.local' }],
  // It exits with 1 if it finds a problem.
  [/^(npm run gantry -- |gantry )doctor$/, { how: 'run', codes: [0, 1] }],
  [/^gantry events export/, { how: 'run', instead: 'gantry events export' }],
  [/^gantry events import/, { how: 'run', instead: 'gantry events import --help' }],
  [/^gantry (backup|restore|move-to)\b/, skip(`${ELSEWHERE} of the tests of backups`)],
  [/^(?:GANTRY_BUILD="[^"]*" )?(docker|helm|pmtiles|git|systemctl) /, skip(OTHER_PROGRAM)],
  // Names of database connections, not commands.
  [
    /^gantry (devices|roll-up|gateways|health|listener|migration|questions|reports|seals|upkeep|writer)$/,
    skip('it is the name of a connection'),
  ],
];
