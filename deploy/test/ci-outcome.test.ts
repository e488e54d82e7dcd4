import { describe, expect, it } from 'vitest';
// @ts-expect-error It is plain JavaScript, because CI runs it without a build.
import { outcomeOf } from '../../.ci/outcome.js';

const kept = { skipped: null, breaches: [] };
const GREEN = [
  { kind: 'verify', status: 0, report: {}, output: '' },
  { kind: 'vitest', status: 0, report: { numPassedTests: 7, numFailedTests: 0 }, output: '' },
  { kind: 'stories', status: 0, report: { stats: { expected: 3, unexpected: 0, flaky: 1 } }, output: '' },
  {
    kind: 'faults',
    status: 0,
    report: { data: { outcomes: [kept, { skipped: 'not root', breaches: [] }] } },
    output: '',
  },
];
/** The steps, of which one is replaced. */
const withStep = (index: number, step: object) => GREEN.with(index, { ...GREEN[index], ...step } as never);

describe('the outcome of continuous integration', () => {
  it('adds up what passed, without skipped faults', () => {
    expect(outcomeOf(GREEN)).toEqual({ passed: 1 + 7 + 4 + 1, failed: 0, failures: [], repeated: [] });
  });

  it.each([
    ['the checks fail', 0, { status: 1 }, { passed: 12, failed: 1 }],
    [
      'tests fail',
      1,
      { status: 1, report: { numPassedTests: 5, numFailedTests: 2, numFailedTestSuites: 1 } },
      { passed: 11, failed: 2 },
    ],
    [
      'files cannot be loaded',
      1,
      { status: 1, report: { numPassedTests: 5, numFailedTests: 0, numFailedTestSuites: 2 } },
      { passed: 11, failed: 2 },
    ],
    ['a step breaks off without a report', 1, { status: 137, report: {} }, { passed: 6, failed: 1 }],
    ['a step fails although all of its tests passed', 2, { status: 1 }, { passed: 13, failed: 1 }],
    [
      'a fault breaks a promise',
      3,
      {
        status: 1,
        report: { data: { outcomes: [kept, { skipped: null, breaches: ['an event is lost'] }] } },
      },
      { passed: 13, failed: 1 },
    ],
  ] as const)('counts failures when %s', (_, index, step, expected) => {
    expect(outcomeOf(withStep(index, step))).toMatchObject(expected);
  });

  it('names what failed in every step, or shows the end of its output', () => {
    const specs = [
      { file: 'a.spec.ts', title: 'opens', ok: true },
      { file: 'a.spec.ts', title: 'closes', ok: false },
    ];
    const stories = { stats: { unexpected: 1 }, suites: [{ suites: [{ specs }] }] };
    const faults = {
      data: { outcomes: [{ name: 'kill-server', skipped: null, breaches: ['an event is lost'] }] },
    };
    const failing = [
      { kind: 'verify', status: 2, report: {}, output: 'an unused variable\n' },
      {
        kind: 'vitest',
        status: 1,
        report: { numPassedTests: 7 },
        output: `${'passed\n'.repeat(100)}the log holds a password\n`,
      },
      { kind: 'stories', status: 1, report: stories, output: 'a story failed' },
      { kind: 'faults', status: 1, report: faults, output: 'a fault broke a promise' },
    ];
    expect(outcomeOf(failing).failures).toEqual([
      'verify ended with exit status 2\nan unused variable',
      `vitest ended with exit status 1\n${'passed\n'.repeat(59)}the log holds a password`,
      'a.spec.ts: closes',
      'fault kill-server: an event is lost',
    ]);
  });

  it('names failed tests and files, with the beginning of their errors', () => {
    const testResults = [
      {
        name: 'a.test.ts',
        assertionResults: [
          { status: 'passed', fullName: 'fine', failureMessages: [] },
          { status: 'failed', fullName: 'adds', failureMessages: ['x'.repeat(3_000)] },
        ],
      },
      { name: 'b.test.ts', message: 'cannot be loaded', assertionResults: [] },
      {
        name: 'c.test.ts',
        message: 'the service does not stop',
        assertionResults: [{ status: 'passed', fullName: 'fine', failureMessages: [] }],
      },
    ];
    const { failures } = outcomeOf(withStep(1, { status: 1, report: { numFailedTests: 1, testResults } }));
    expect(failures).toEqual([
      'b.test.ts: cannot be loaded',
      'c.test.ts: the service does not stop',
      `a.test.ts: adds\n${'x'.repeat(2_000)}`,
    ]);
  });

  it('names what passed only at the second try, which does not fail', () => {
    const testResults = [
      {
        name: 'a.test.ts',
        assertionResults: [
          { status: 'passed', fullName: 'fine', failureMessages: [] },
          { status: 'passed', fullName: 'adds', failureMessages: ['expected 2 to be 3'] },
          { status: 'failed', fullName: 'divides', failureMessages: ['once', 'twice'] },
        ],
      },
    ];
    const specs = [
      { file: 'a.spec.ts', title: 'opens', ok: true, tests: [{ status: 'expected' }] },
      { file: 'a.spec.ts', title: 'closes', ok: true, tests: [{ status: 'flaky' }] },
      { file: 'a.spec.ts', title: 'prints', ok: false, tests: [{ status: 'unexpected' }] },
    ];
    const tests = {
      kind: 'vitest',
      status: 1,
      report: { numPassedTests: 2, numFailedTests: 1, testResults },
    };
    const stories = {
      kind: 'stories',
      status: 1,
      report: { stats: { flaky: 1, unexpected: 1 }, suites: [{ specs }] },
    };
    expect(outcomeOf([tests, stories])).toEqual({
      passed: 3,
      failed: 2,
      failures: ['a.test.ts: divides\nonce\ntwice', 'a.spec.ts: prints'],
      repeated: ['a.test.ts: adds\nexpected 2 to be 3', 'a.spec.ts: closes'],
    });
  });
});
