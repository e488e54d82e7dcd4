import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Prints what failed once more, since thousands of lines separate it from the end of the output, what passed only at the
// second try, and the line "N passed, N failed". The arguments are the steps: `kind=exit status=path`, with the report at
// `path.json` and the output at `path.log`.
//
//   node .ci/outcome.js verify=0=/tmp/verify vitest=1=/tmp/tests stories=0=/tmp/stories faults=0=/tmp/faults

/** The lines at the end of the output of a step that failed for a reason that its report does not name. */
const LINES_SHOWN = 60;

/** Reads a file; an absent one, as of a step that broke off, is empty. */
const readText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const readReport = (path) => {
  try {
    return JSON.parse(readText(path));
  } catch {
    return {};
  }
};

/** The tests of a report that match, each with its file and the errors of all of its tries. */
const testsThat = (matches, { testResults = [] }) =>
  testResults.flatMap(({ name, assertionResults = [] }) =>
    assertionResults
      .filter(matches)
      .map(
        ({ fullName, failureMessages }) =>
          `${name}: ${fullName}\n${[...new Set(failureMessages)].join('\n').slice(0, 2_000)}`,
      ),
  );

/** Failed tests, and files that cannot be loaded or whose hooks failed. */
const failedTests = (report) => [
  ...(report.testResults ?? [])
    .filter(({ message }) => message)
    .map(({ name, message }) => `${name}: ${message}`),
  ...testsThat(({ status }) => status === 'failed', report),
];

/** The titles of the stories that match; suites contain suites. */
const storiesThat = (matches, { suites = [] }) =>
  suites.flatMap((suite) => [
    ...(suite.specs ?? []).filter(matches).map(({ file, title }) => `${file}: ${title}`),
    ...storiesThat(matches, suite),
  ]);

/** The faults that broke a promise, with the promises. */
const failedFaults = ({ data: { outcomes = [] } = {} }) =>
  outcomes
    .filter(({ breaches }) => breaches.length > 0)
    .map(({ name, breaches }) => `fault ${name}: ${breaches.join('; ').slice(0, 2_000)}`);

const failuresOf = {
  verify: () => [],
  vitest: failedTests,
  stories: (report) => storiesThat(({ ok }) => !ok, report),
  faults: failedFaults,
};

/** What passed at its second try: it counts as passed, and is named, because a test that fails at times has a reason. */
const repeatedOf = {
  verify: () => [],
  vitest: (report) =>
    testsThat(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0, report),
  stories: (report) =>
    storiesThat(({ ok, tests = [] }) => ok && tests.some(({ status }) => status === 'flaky'), report),
  faults: () => [],
};

/** What each kind of step counts, from its report and exit status. */
const countOf = {
  verify: (_, status) => ({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 }),
  vitest: ({ numPassedTests = 0, numFailedTests = 0, numFailedTestSuites = 0 }) => ({
    passed: numPassedTests,
    // A file that cannot be loaded has no failed test.
    failed: numFailedTests || numFailedTestSuites,
  }),
  stories: ({ stats: { expected = 0, unexpected = 0, flaky = 0 } = {} }) => ({
    passed: expected + flaky,
    failed: unexpected,
  }),
  faults: ({ data: { outcomes = [] } = {} }) => {
    const tried = outcomes.filter(({ skipped }) => skipped === null);
    const failed = tried.filter(({ breaches }) => breaches.length > 0).length;
    return { passed: tried.length - failed, failed };
  },
};

/**
 * The outcome of all steps. A step that failed without a failed test of its own, as one that broke off, counts as one.
 * If its report does not name what failed, such as an error after a test or a secret in the log, the end of its output does.
 * @param {readonly {kind: keyof typeof countOf, status: number, report: object, output: string}[]} steps
 */
export function outcomeOf(steps) {
  let [passed, failed] = [0, 0];
  const [failures, repeated] = [[], []];
  for (const { kind, status, report, output } of steps) {
    const count = countOf[kind](report, status);
    const named = failuresOf[kind](report);
    passed += count.passed;
    failed += status !== 0 && count.failed === 0 ? 1 : count.failed;
    failures.push(...named);
    repeated.push(...repeatedOf[kind](report));
    if (status !== 0 && named.length === 0)
      failures.push(
        [
          `${kind} ended with exit status ${status}`,
          ...output.trimEnd().split('\n').slice(-LINES_SHOWN),
        ].join('\n'),
      );
  }
  return { passed, failed, failures, repeated };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const steps = process.argv.slice(2).map((argument) => {
    const [kind, status, path] = argument.split('=');
    return {
      kind,
      status: Number(status),
      report: readReport(`${path}.json`),
      output: readText(`${path}.log`),
    };
  });
  const { passed, failed, failures, repeated } = outcomeOf(steps);
  if (repeated.length > 0) process.stdout.write(`Passed at the second try:\n${repeated.join('\n')}\n`);
  if (failures.length > 0) process.stdout.write(`Failed:\n${failures.join('\n')}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
