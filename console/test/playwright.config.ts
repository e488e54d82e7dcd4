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
  // Each worker has its own service and database.
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  // A browser on a busy machine may be too slow once. A test that passes only on the retry is reported as flaky.
  retries: 1,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    // An action that is not possible by then fails, instead of using up the time of the test.
    actionTimeout: 20_000,
    launchOptions: {
      executablePath: chromiumPath,
      // The map needs WebGL, which is rendered in software here.
      args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
    },
    // Requests that a service worker serves cannot be changed by a test.
    serviceWorkers: 'block',
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    colorScheme: 'dark',
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
