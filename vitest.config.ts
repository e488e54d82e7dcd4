import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{contract,server,client,simulator,bench}/test/**/*.test.ts'],
    globalSetup: ['server/test/database-server.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every worker runs a whole service; more of them than cores only wait for each other.
    maxWorkers: 2,
  },
});
