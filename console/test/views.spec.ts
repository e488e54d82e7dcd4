import { expect, test } from './fixtures.ts';

test.describe('saved views', () => {
  test('are saved, shared, and made the default of a page for all users', async ({ service, openAs }) => {
    const { apiKey } = await service.sensor();
    const violation = {
      eventType: 'TRAFFIC_VIOLATION',
      violationType: 'VIEW',
      licensePlateNumber: 'VIE 1',
    } as const;
    await service.admin.api.events.ingest.mutate({ apiKey, ...violation });
    const page = await openAs('ADMIN', '/events?violationType=VIEW');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    await page.getByLabel('Name').fill('My violations');
    await page.getByLabel('Share with everybody').check();
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('button', { name: 'View: My violations' }).click();
    await page.getByRole('menuitem', { name: 'Manage views…' }).click();
    const deletion = page.getByRole('button', { name: 'Delete view My violations' });
    const row = page.getByRole('listitem').filter({ has: deletion });
    await row.getByRole('button', { name: 'Make default' }).click();
    await expect(row.getByRole('button', { name: 'No longer default' })).toBeVisible();
    const other = await openAs('OPERATOR', '/incidents');
    const lists: string[] = [];
    other.on('request', (request) => {
      const url = decodeURIComponent(request.url());
      if (url.includes('/trpc/') && url.includes('events.getAll')) lists.push(url);
    });
    await other.goto(`${service.url}/events`);
    await expect(other).toHaveURL(/violationType=VIEW/);
    await expect(other.getByRole('row', { name: 'VIE 1' })).toBeVisible();
    // No other list was requested before.
    expect(lists.length).toBeGreaterThan(0);
    for (const url of lists) expect(url).toContain('"violationType":"VIEW"');
    // A link to one event opens the event without the default view.
    await other.goto(`${service.url}/events?event=no-such-event`);
    await expect(other.getByText('Event not found')).toBeVisible();
    await expect(other).not.toHaveURL(/violationType/);
    await row.getByRole('button', { name: 'No longer default' }).click();
    await expect(row.getByRole('button', { name: 'Make default' })).toBeVisible();
  });

  test('are renamed and deleted, and both can be undone', async ({ service, openAs }) => {
    // On other pages, the operator has views of other tests.
    const page = await openAs('OPERATOR', '/sensors?search=nowhere');
    const create = (name: string) =>
      page.evaluate(
        async ([url, name]) => {
          const { token } = JSON.parse(localStorage.getItem('gantry.session') ?? '{}');
          const body = JSON.stringify({ json: { page: 'sensors', name, search: 'search=nowhere' } });
          const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
          await fetch(`${url}/trpc/views.create`, { method: 'POST', headers, body });
        },
        [service.url, name] as const,
      );
    await create('Nowhere');
    await page.reload();
    await page.getByRole('button', { name: 'View: Nowhere' }).click();
    await page.getByRole('menuitem', { name: 'Manage views…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Saved views' });
    await dialog.getByLabel('Name').fill('Elsewhere');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await expect(dialog.getByText('View “Elsewhere” changed')).toBeVisible();
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await expect(dialog.getByLabel('Name')).toHaveValue('Nowhere');
    await dialog.getByRole('button', { name: 'Delete view Nowhere' }).click();
    await expect(dialog.getByText('There are no saved views.')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await page.keyboard.press('z');
    await expect(page.getByRole('button', { name: 'View: Nowhere' })).toBeVisible();
  });
});
