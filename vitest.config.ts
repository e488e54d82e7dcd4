import { defineConfig } from 'vitest/config';
import LongestFirst from './server/test/longest-first.ts';

export default defineConfig({
  test: {
    include: [
      '{contract,device-formats,embedded-postgres,spool,server,client,simulator,bench,console,edge,deploy}/test/**/*.test.ts',
    ],
    globalSetup: ['server/test/database-server.ts'],
    setupFiles: ['server/test/after-each-file.ts'],
    // A busy machine takes many times as long as an idle one. Only a test that fails waits for so long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    // Of more than ten thousand tests, which share a machine with whatever else runs on it, one may fail by chance. A test
    // that passes only at its second try is reported, with the error of the first one.
    retry: 1,
    // No file leaves anything behind in its worker, so each loads the service once, not once for every file.
    isolate: false,
    // Services create much that is soon garbage: with room for more of it, V8 collects less often. Three workers on two
    // cores leave none for its helper threads, which spend processor time on sharing and waiting for work.
    execArgv: ['--max-semi-space-size=32', '--single-threaded-gc'],
    sequence: { sequencer: LongestFirst },
    // Every worker runs a whole service. Tests wait more than they work, so three of them keep two cores busy.
    maxWorkers: 3,
  },
});
