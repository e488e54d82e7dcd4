/** The pages whose commands are tried. */
export const PAGES = [
  'README.md',
  'docs/getting-started.md',
  'docs/run.md',
  'docs/reference.md',
  'docs/upgrading.md',
  'docs/runbook.md',
  'docs/scaling.md',
  'docs/security.md',
];

/** How a command of the documentation is tried. */
export type Way =
  /** It ends by itself, with one of `codes`, by default 0. */
  | { readonly how: 'run'; readonly instead?: string; readonly codes?: readonly number[] }
  /** It serves until it is stopped. */
  | { readonly how: 'serve' }
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
  [/^npm ci && npm start$|^npm start$|^npx gantry start$|^gantry start$/, { how: 'serve' }],
  [
    /^(npm run demo|gantry demo)$/,
    skip(
      'it fills a month of history, which takes minutes; `npm run bench` and the tests of the simulator do that',
    ),
  ],
  [/^npm ci$/, skip('what was installed is there already')],
  [/^npm ci && npm test$|^npm run test(:\w+)?$/, skip('it is the test suite itself')],
  [/^npm run bench\b/, skip('benchmarks take many minutes')],
  [
    /^(npm run simulate -- --sensors 20|npm run simulate|gantry simulate)$/,
    { how: 'run', instead: 'npm run simulate -- --help' },
  ],
  [/^npm run build:console$/, { how: 'run' }],
  [/^npm run package:npm$/, skip(`${ELSEWHERE}: deploy/test/packages.test.ts`)],
  [/^npm run package:deb$|^apt install|^sudo gantry/, skip(`${ELSEWHERE}: deploy/debian/test.sh`)],
  [/^promtool test rules/, skip(`${ELSEWHERE}: server/test/monitoring.test.ts`)],
  [/^npm run db:check$|^gantry db (check|repair)$/, { how: 'run' }],
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
  [/^(npx )?gantry (backup|restore|move-to)\b/, skip(`${ELSEWHERE} of the room of backups`)],
  [/^npm install (<file>|gantry@)|^(docker|helm|pmtiles|git|systemctl) /, skip(OTHER_PROGRAM)],
  // Names of database connections, not commands.
  [
    /^gantry (devices|folding|gateways|health|listener|migration|questions|reports|upkeep|writer)$/,
    skip('it is the name of a connection'),
  ],
];
