import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, longest first; the others follow by name. If one of these began last, it would run
 * alone while the other processors are idle.
 */
const LONGEST = [
  'bench/test/processes/commands.test.ts',
  'server/test/processes/stop-signals.test.ts',
  'server/test/processes/gateway-faults.test.ts',
  'server/test/webhook-delivery.test.ts',
  'server/test/processes/commands.test.ts',
  'server/test/processes/start-errors.test.ts',
  'server/test/processes/random-signals.test.ts',
  'server/test/processes/embedded.test.ts',
  'server/test/processes/workers.test.ts',
  'simulator/test/processes/demo.test.ts',
  'server/test/processes/many-processes.test.ts',
  'server/test/processes/pool-faults.test.ts',
  'server/test/report-files.test.ts',
  'server/test/shared-out-connections.test.ts',
  'server/test/jobs.test.ts',
  'server/test/event-engine.test.ts',
  'server/test/processes/crash.test.ts',
  'server/test/reports.test.ts',
  'server/test/realtime.test.ts',
  'simulator/test/processes/simulate.test.ts',
  'server/test/traffic.test.ts',
  'server/test/processes/distribute-refusals.test.ts',
  'server/test/processes/hostile-input.test.ts',
  'server/test/report-traffic.test.ts',
  'server/test/event-totals.test.ts',
  'server/test/wire-limits.test.ts',
  'server/test/processes/data-folder.test.ts',
  'server/test/report-snapshot.test.ts',
  'server/test/event-pages.test.ts',
  'server/test/retention.test.ts',
  'server/test/listener-probe.test.ts',
  'server/test/event-paging.test.ts',
  'server/test/event-stats.test.ts',
  'server/test/event-list.test.ts',
  'server/test/processes/realtime-processes.test.ts',
  'server/test/follow-up.test.ts',
  'server/test/traffic-rollups.test.ts',
  'server/test/incident-rules.test.ts',
];

/**
 * The order of the test files. By default vitest uses the durations of the last run, which a fresh clone does not
 * have.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? LONGEST.length : place;
    };
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || a.moduleId.localeCompare(b.moduleId));
  }
}
