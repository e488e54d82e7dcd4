import { defineConfig } from '@playwright/test';
import { chromiumPath, hasChromium } from './chromium.ts';

if (!hasChromium) {
  process.stderr.write(
    `The browser stories are skipped: there is no Chromium at ${chromiumPath}. Install it, or set CHROMIUM to its path.\n`,
  );
}

export default defineConfig({
  testDir: '.',
  testMatch: hasChromium ? '*.spec.ts' : [],
  outputDir: '../test-results',
  // Each worker has a service and a database of its own.
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  // A browser on a busy machine may be slow once. What passes only at the second try is listed as flaky.
  retries: 1,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    // What cannot be pressed or filled in by then takes none of the time of the others.
    actionTimeout: 20_000,
    launchOptions: {
      executablePath: chromiumPath,
      // The map needs WebGL, which is drawn by the processor here.
      args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
    },
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    colorScheme: 'dark',
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
