import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGantryClient } from '@gantry/client';
import { type Browser, chromium, type Page } from '@playwright/test';
import { chromiumPath } from '../test/chromium.ts';
import { type Image, imagesIn } from './pages.ts';
import { prepare } from './prepare.ts';

// Takes the images in docs/screenshots, of a demo that it starts with a folder of its own, or of the one at GANTRY_URL
// whose administrator's password is in ADMIN_PASSWORD. The demo has the same places, devices and vehicles each time; its
// times are those of the day.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'docs/screenshots');
const EMAIL = process.env.ADMIN_EMAIL ?? 'admin@gantry.local';
const PASSWORD = process.env.ADMIN_PASSWORD ?? 'Screenshots-4-Gantry';
const PORT = process.env.PORT ?? '4090';
const HEIGHT = 900;
const QUALITY = 82;
/** Charts have drawn by then, in milliseconds; maps say when they have. */
const SETTLE_MS = 1_500;
/** The names of the images that are taken; none: all. */
const wanted = new Set(process.argv.slice(2));

const demo = process.env.GANTRY_URL === undefined ? await startDemo() : null;
const url = process.env.GANTRY_URL ?? `http://127.0.0.1:${PORT}`;
try {
  await takeAll();
} finally {
  await demo?.stop();
}

async function takeAll(): Promise<void> {
  const client = createGantryClient(url);
  const { token, user } = await client.api.auth.login.mutate({ email: EMAIL, password: PASSWORD });
  await client.login(EMAIL, PASSWORD);
  const images = imagesIn(await prepare(client));
  const chosen = images.filter(({ name }) => wanted.size === 0 || wanted.has(name));
  await mkdir(FOLDER, { recursive: true });
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
  });
  for (const image of chosen) {
    const page = await open(browser, { theme: image.theme, session: { token, user } });
    const file = await take(page, image).catch(() => take(page, image));
    await writeFile(join(FOLDER, `${image.name}-${image.theme}.webp`), file);
    process.stdout.write(`${image.name}: ${Math.round(file.length / 1000)} kB\n`);
    await page.context().close();
  }
  await browser.close();
}

async function open(browser: Browser, stored: { theme: string; session: unknown }): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: stored.theme === 'dark' ? 'dark' : 'light',
    locale: 'en-GB',
  });
  await context.addInitScript((values) => {
    for (const [name, value] of Object.entries(values))
      if (value !== null) localStorage.setItem(`gantry.${name}`, JSON.stringify(value));
  }, stored);
  return context.newPage();
}

/** The image as WebP, which Playwright itself does not write. */
async function take(page: Page, { path, keys = [], width = 1440 }: Image): Promise<Buffer> {
  await page.setViewportSize({ width, height: HEIGHT });
  await page.goto(url + path);
  await page.locator('h1, form').first().waitFor();
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(500);
  }
  await page.waitForTimeout(SETTLE_MS);
  await page
    .locator('.animate-pulse, [data-loading], .maplibregl-map:not([data-drawn])')
    .first()
    .waitFor({ state: 'detached' });
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await devtools.detach();
  return Buffer.from(data, 'base64');
}

async function startDemo(): Promise<{ stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-screenshots-'));
  const env = {
    ...process.env,
    PORT,
    DATA_DIR: folder,
    ADMIN_PASSWORD: PASSWORD,
  };
  for (const build of ['server/build.js', 'console/build.js'])
    execFileSync(process.execPath, [build], { cwd: ROOT, stdio: 'inherit' });
  const child = spawn(process.execPath, ['server/bin/gantry.cjs', 'demo'], { cwd: ROOT, env });
  await untilReady(child);
  return {
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const read = (text: unknown) => {
      printed += String(text);
      if (printed.includes('The demo is ready')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => reject(new Error(`The demo did not start: ${printed}`)));
  });
}
