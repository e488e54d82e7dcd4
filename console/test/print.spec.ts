import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { expect, test } from './fixtures.ts';

const NOTES = 40;

test('an incident is printed as a whole, without the navigation and in dark letters', async ({
  service,
  openAs,
}) => {
  const { api } = service.admin;
  const { id } = await api.incidents.create.mutate({ title: 'On paper', type: 'COLLISION', severity: 'LOW' });
  for (let n = 0; n < NOTES; n++)
    await api.incidents.addNote.mutate({ id, note: `Note ${n} of the incident` });
  const page = await openAs('OPERATOR', `/incidents/${id}`, { theme: 'dark' });
  await expect(page.getByText('Note 0 of the incident')).toBeVisible();
  const paper = await getDocument({ data: new Uint8Array(await page.pdf({ format: 'A4' })) }).promise;
  const texts = await Promise.all(
    Array.from({ length: paper.numPages }, async (_, at) => {
      const { items } = await (await paper.getPage(at + 1)).getTextContent();
      return items.map((item) => ('str' in item ? item.str : '')).join(' ');
    }),
  );
  const text = texts.join(' ');
  for (let n = 0; n < NOTES; n++) expect(text).toContain(`Note ${n} of the incident`);
  // The navigation and the commands are of no use on paper.
  expect(text).not.toContain('Watchlist');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByText('Note 0 of the incident')).toHaveCSS('color', 'rgb(28, 32, 36)');
});

test('a map is printed as it is shown', async ({ service, openAs }) => {
  const { id } = await service.admin.api.incidents.create.mutate({
    title: 'On a map',
    type: 'COLLISION',
    location: { latitude: 41.01, longitude: 28.97 },
  });
  const page = await openAs('OPERATOR', `/incidents/${id}`);
  await expect(page.locator('[data-drawn=true]')).toBeVisible();
  const colours = () =>
    page.evaluate(() => {
      const copy = document.querySelector<HTMLCanvasElement>('[data-drawn=true] > canvas');
      const pixels = copy?.getContext('2d')?.getImageData(0, 0, copy.width, copy.height).data;
      return pixels ? new Set(new Uint32Array(pixels.buffer)).size : null;
    });
  expect(await colours()).toBeNull();
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await colours()).toBeGreaterThan(20);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  expect(await colours()).toBeNull();
});

test('a chart that is wider than the paper is printed smaller', async ({ service, openAs }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports');
  const chart = page.getByRole('img', { name: 'Events over time' });
  await expect(chart.locator('canvas')).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  const widths = await chart.evaluate((box) => {
    const canvas = box.querySelector('canvas');
    // As on a wide screen: the chart library sets the size in pixels.
    for (const part of [canvas, canvas?.parentElement]) if (part) part.style.width = '3000px';
    return [canvas?.getBoundingClientRect().width, box.getBoundingClientRect().width];
  });
  expect(widths[0]).toBe(widths[1]);
});

test('a chart is light on paper, and as it was on the screen afterwards', async ({ service, openAs }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports', { theme: 'dark' });
  const chart = page.getByRole('img', { name: 'Events over time' });
  await expect(chart.locator('canvas')).toBeVisible();
  /** Whether more of the opaque pixels are dark than light. */
  const isDark = () =>
    chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      let [dark, light] = [0, 0];
      for (let at = 0; at < pixels.length; at += 4) {
        if ((pixels[at + 3] ?? 0) < 255) continue;
        if ((pixels[at] ?? 0) + (pixels[at + 1] ?? 0) + (pixels[at + 2] ?? 0) < 384) dark++;
        else light++;
      }
      return dark > light;
    });
  expect(await isDark()).toBe(false);
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await isDark()).toBe(true);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await expect.poll(isDark).toBe(false);
});
