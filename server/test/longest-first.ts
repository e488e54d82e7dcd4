import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, longest first; the others follow by name. If one of these began last, it would run
 * alone while the other processors are idle.
 */
const SLOW_FILES = [
  'server/test/processes/cases.test.ts',
  'server/test/processes/blocked-loop.test.ts',
  'server/test/processes/gateway-faults.test.ts',
  'server/test/processes/hostile-input.test.ts',
  'server/test/processes/map.test.ts',
  'server/test/processes/commands.test.ts',
  'server/test/processes/hotlists.test.ts',
  'server/test/processes/evidence.test.ts',
  'server/test/processes/start-errors.test.ts',
  'server/test/processes/workers.test.ts',
  'bench/test/processes/commands.test.ts',
  'embedded-postgres/test/processes/embedded.test.ts',
  'server/test/processes/unfinished-work.test.ts',
  'edge/test/processes/edge.test.ts',
  'server/test/processes/many-processes.test.ts',
  'server/test/processes/stop-signals.test.ts',
  'server/test/processes/crash.test.ts',
  'server/test/processes/backup-elsewhere.test.ts',
  'server/test/processes/pool-faults.test.ts',
  'simulator/test/processes/demo.test.ts',
  'server/test/processes/random-signals.test.ts',
  'simulator/test/processes/simulate.test.ts',
  'server/test/processes/realtime-processes.test.ts',
  'simulator/test/processes/makers.test.ts',
  'server/test/evidence-packages.test.ts',
  'server/test/hotlist-imports.test.ts',
  'server/test/hotlist-sources.test.ts',
  'server/test/traffic-years.test.ts',
  'server/test/backup-encryption.test.ts',
  'server/test/study-files.test.ts',
  'server/test/reports.test.ts',
  'server/test/generated-clients.test.ts',
  'server/test/traffic-rollups.test.ts',
  'server/test/backup-restore.test.ts',
  'server/test/permissions-matrix.test.ts',
  'server/test/report-traffic.test.ts',
  'server/test/consistency.test.ts',
  'server/test/hidden-plates.test.ts',
  'server/test/gateway-messages.test.ts',
  'server/test/independent-figures.test.ts',
  'server/test/retention.test.ts',
  'server/test/report-files.test.ts',
  'server/test/linear-time.test.ts',
  'server/test/gateway-limits.test.ts',
  'server/test/backup-refusals.test.ts',
  'client/test/subscriptions.test.ts',
  'server/test/incident-rules.test.ts',
  'server/test/shared-out-connections.test.ts',
  'server/test/traffic-quarters.test.ts',
  'server/test/traffic.test.ts',
  'server/test/event-pages.test.ts',
  'server/test/wire-limits.test.ts',
  'server/test/assigned-traffic.test.ts',
  'server/test/cases.test.ts',
  'server/test/gateway-payloads.test.ts',
  'server/test/realtime.test.ts',
  'server/test/event-engine.test.ts',
  'server/test/report-traffic-totals.test.ts',
  'server/test/api-tokens.test.ts',
  'server/test/jobs.test.ts',
  'server/test/webhook-delivery.test.ts',
  'server/test/openapi.test.ts',
  'server/test/mqtt.test.ts',
  'server/test/report-pages.test.ts',
  'server/test/mqtt-client.test.ts',
  'simulator/test/news.test.ts',
  'server/test/query-plans.test.ts',
];

/**
 * The order of the test files. By default vitest uses the durations of the last run, which a fresh clone does not
 * have.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = SLOW_FILES.indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? SLOW_FILES.length : place;
    };
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || a.moduleId.localeCompare(b.moduleId));
  }
}
