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

test('a map is printed as it is shown', { tag: '@long' }, async ({ service, openAs }) => {
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

test('charts are printed in light colours and in the width of the paper, whatever the screen', async ({
  service,
  openAs,
}) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
  const page = await openAs('ADMIN', '/reports', { theme: 'dark' });
  for (const name of ['Events over time', 'Events by hour of the week']) {
    const chart = page.getByRole('img', { name });
    await expect(chart.locator('canvas').first()).toBeVisible();
    /** The numbers of opaque pixels of the canvases that are shown, and of the dark ones among them. */
    const pixels = () =>
      chart.evaluate((box) => {
        let [opaque, dark] = [0, 0];
        for (const canvas of box.querySelectorAll('canvas')) {
          if (canvas.offsetParent === null) continue;
          const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
            data: [],
          };
          for (let at = 0; at < data.length; at += 4) {
            if ((data[at + 3] ?? 0) < 255) continue;
            opaque++;
            if ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0) < 240) dark++;
          }
        }
        return { opaque, dark };
      });
    const onScreen = await pixels();
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    const onPaper = await pixels();
    // More than on the screen, although it is smaller: it has twice the resolution.
    expect(onPaper.opaque).toBeGreaterThan(onScreen.opaque);
    // The cells of the second chart that have no events are dark grey on the screen, and light grey on paper.
    if (name !== 'Events over time')
      expect(onPaper.dark / onPaper.opaque).toBeLessThan(0.3 * (onScreen.dark / onScreen.opaque));
    const widths = await chart.evaluate((box) =>
      [box, ...box.querySelectorAll('canvas')].map((part) => part.getBoundingClientRect().width),
    );
    expect(widths.at(-1)).toBe(widths[0]);
    // The card is as high as what is drawn, in whose proportions it was drawn for paper.
    const sizes = await chart.evaluate((box) => {
      const copy = [...box.querySelectorAll('canvas')].at(-1) ?? new HTMLCanvasElement();
      return [box.clientHeight / box.clientWidth, copy.height / copy.width];
    });
    expect(sizes[0]).toBeCloseTo(sizes[1] ?? 0, 1);
    expect(widths.slice(1, -1).every((width) => width === 0)).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    await expect.poll(pixels).toEqual(onScreen);
  }
});
