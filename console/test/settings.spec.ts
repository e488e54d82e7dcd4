import { createGantryClient } from '@gantry/client';
import { startProvider, type TestProvider } from '../../server/test/oidc-provider.ts';
import { expect, expectAccessible, openAlone, remember, test } from './fixtures.ts';
import { PASSWORD, startService, type TestService } from './service.ts';

// Features that depend on settings: a login provider, plates that are hidden from roles, and plate searches that
// require a reason.

let provider: TestProvider;
let service: TestService;
test.beforeAll(async () => {
  test.setTimeout(120_000);
  provider = await startProvider();
  service = await startService({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: 'City login',
    OIDC_ROLES: 'traffic=OPERATOR',
    HIDE_PLATES_FROM: 'OPERATOR',
    PLATE_SEARCH_REASON: 'true',
    WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
  });
  await provider.open(`${service.url}/login/oidc/callback`);
});
test.afterAll(async () => {
  await service?.stop();
  await provider?.close();
});

test('a user signs in at the provider, returns to the requested page, and sees why another login failed', async ({
  browser,
}) => {
  const context = await browser.newContext();
  await remember(context, { language: 'en' });
  const page = await context.newPage();
  const signIn = page.getByRole('button', { name: 'Sign in with City login' });
  await page.goto(`${service.url}/sensors?status=OFFLINE`);
  // The user cancels at the provider.
  provider.account = null;
  await signIn.click();
  await expect(page.getByRole('alert')).toContainText('The login at the provider was not completed');
  expect(page.url()).not.toContain('oidc');

  provider.accounts.set('dana', {
    email: 'dana@city.example',
    email_verified: true,
    given_name: 'Dana',
    family_name: 'Reyes',
    groups: ['traffic'],
  });
  provider.account = 'dana';
  await page.goto(`${service.url}/sensors?status=OFFLINE`);
  await signIn.click();
  await expect(page.getByRole('heading', { name: 'Sensors', level: 1 })).toBeVisible();
  await expect(page).toHaveURL(/\/sensors\?status=OFFLINE$/);
  await page.getByRole('button', { name: 'Account' }).click();
  await expect(page.getByRole('menu')).toContainText('dana@city.example · Operator');
  await context.close();
});

test('every page that would show plates states that they are hidden from the role', { tag: '@long' }, async ({
  browser,
}) => {
  const { api } = service.admin;
  const { apiKey } = await service.sensor({ name: 'Hidden plates' });
  const { eventId } = await api.events.ingest.mutate({
    apiKey,
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: '06 HIDDEN 1',
  });
  const incident = await api.incidents.create.mutate({
    title: 'With a hidden plate',
    type: 'OTHER',
    severity: 'LOW',
    eventIds: [eventId],
  });
  const operator = createGantryClient(service.url);
  await operator.login(await service.userOf('OPERATOR'), PASSWORD);
  const page = await openAlone(browser, { ...service, admin: operator }, '/?places=list');
  for (const path of ['/', '/events', '/incidents', `/incidents/${incident.id}`, '/reports', '/watchlist']) {
    await test.step(path, async () => {
      await page.goto(service.url + path);
      await expect(page.getByText('are hidden from your role')).toHaveCount(1);
      await expect(page.locator('body')).not.toContainText('HIDDEN 1');
    });
  }
  await page.goto(`${service.url}/reports`);
  await expect(page.getByRole('heading', { name: 'Time until review' })).toBeVisible();
  await expect(page.getByText('are hidden from your role')).toHaveCount(1);
  await page.goto(`${service.url}/events?event=${eventId}`);
  await expect(page.getByRole('complementary').first()).toContainText('•••');
  await page.context().close();
  // A user who may see plates does not get this message.
  const admin = await openAlone(browser, service, '/?places=list');
  await expect(admin.getByRole('region', { name: 'Newest events' })).toContainText('06 HIDDEN 1');
  await expect(admin.getByText('are hidden from your role')).toHaveCount(0);
  await admin.context().close();
});

test('features that are switched off are no failures: the pages leave them out, and ask again without a stream', {
  tag: '@long',
}, async ({ browser }) => {
  test.slow();
  const limited = await startService({ FEATURES: 'locations,reports,traffic' });
  try {
    const { apiKey } = await limited.sensor({ name: 'Without a stream' });
    const page = await openAlone(browser, limited, '/?places=list');
    await page.clock.install();
    await page.reload();
    await expect(page.getByText('Live updates are off')).toBeVisible();
    const newest = page.getByRole('region', { name: 'Newest events' });
    await expect(newest).toContainText('No events yet');
    await limited.admin.api.events.ingest.mutate({
      apiKey,
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: '06 POLL 1',
    });
    await page.clock.runFor(16_000);
    await expect(newest).toContainText('06 POLL 1');
    await page.clock.runFor(16_000);
    await expect(page.getByText('Live updates are off')).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expect(page.getByRole('region', { name: 'Newest incidents' })).toHaveCount(0);
    for (const tile of ['Unresolved incidents', 'Alerts waiting', /^since /])
      await expect(page.getByText(tile)).toHaveCount(0);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await expect(page.getByRole('row', { name: /06 POLL 1/ })).toBeVisible();
    await limited.admin.api.events.ingest.mutate({ apiKey, eventType: 'VEHICLE_DETECTION' });
    await page.clock.runFor(16_000);
    await expect(page.getByRole('button', { name: /Show 1 new event/ })).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.context().close();
  } finally {
    await limited.stop();
  }
});

test('a schedule and a webhook with a plate take the reason that is required, and a schedule pauses without one', async ({
  browser,
}) => {
  const { api } = service.admin;
  const page = await openAlone(browser, service, '/reports/schedules');
  const dialog = page.getByRole('dialog');
  const reason = dialog.getByLabel('Why the plate is looked up');
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  await dialog.getByLabel('Kind').selectOption('VIOLATIONS');
  await expect(reason).toHaveCount(0);
  await dialog.getByLabel('Plate', { exact: true }).fill('06 RSN 1');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(reason).toBeFocused();
  await expect(reason).toHaveAttribute('aria-invalid', 'true');
  await reason.fill('Complaint 8');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await page.getByRole('button', { name: 'Change: Violations' }).click();
  await dialog.getByLabel('Switched on').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('row', { name: /Violations PDF/ })).toContainText('Switched off');
  const { schedules } = await api.reports.getSchedules.query();
  expect(schedules).toMatchObject([{ enabled: false, filters: { licensePlateNumber: '06 RSN 1' } }]);

  await page.goto(`${service.url}/administration/webhooks`);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/');
  await dialog.getByLabel(/New violation/).check();
  await dialog.getByLabel('Plate').fill('06 RSN 1');
  await reason.fill('Complaint 9');
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByRole('button', { name: 'Show the webhook' }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Description').fill('Of a complaint');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  const { webhooks } = await api.webhooks.getAll.query();
  expect(webhooks).toMatchObject([
    { description: 'Of a complaint', filter: { licensePlateNumber: '06 RSN 1' } },
  ]);
  await page.context().close();
});

test('another user who signs in in another tab sees nothing of the one before', async ({ browser }) => {
  const { apiKey } = await service.sensor();
  await service.admin.api.events.ingest.mutate({
    apiKey,
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: 'B-AB 1234',
  });
  for (const isSignedOut of [true, false]) {
    const page = await openAlone(browser, service, '/events');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/events`);
    await expect(other.getByText('B-AB 1234')).toBeVisible();
    const email = await service.userOf('OPERATOR');
    const session = await service.admin.api.auth.login.mutate({ email, password: PASSWORD });
    const keep = (value: object | null) =>
      page.evaluate((text) => localStorage.setItem('gantry.session', text), JSON.stringify(value));
    if (isSignedOut) {
      await keep(null);
      await expect(other).toHaveURL(/sign-in/);
    }
    await keep(session);
    await expect(other.getByRole('banner').getByText('Operator Tester')).toBeVisible();
    await other.getByRole('link', { name: 'Events', exact: true }).click();
    await expect(other.getByText('•••')).toBeVisible();
    await expect(other.getByText('B-AB 1234')).toHaveCount(0);
    await page.context().close();
  }
});

test('a search for a plate asks for its purpose, which is recorded once and not asked for again after a reload', async ({
  browser,
}) => {
  test.slow();
  const asking = await startService({ PURPOSES: 'STOLEN=Stolen vehicle,MISSING=Missing person' });
  try {
    const { api } = asking.admin;
    const { apiKey } = await asking.sensor({ name: 'With purposes' });
    const plate = { eventType: 'PLATE_RECOGNITION', licensePlateNumber: '06 PURPOSE 1' } as const;
    await api.events.ingest.mutate({ apiKey, ...plate });
    const lookUps = async (about: string) =>
      (await api.users.getActivityLog.query({ action: 'events.lookUpPlate', about })).activities;
    const viewer = createGantryClient(asking.url);
    await viewer.login(await asking.userOf('VIEWER'), PASSWORD);

    // A link that somebody sent has no purpose: the user is asked for one, and nothing is searched for or refused.
    const page = await openAlone(
      browser,
      { ...asking, admin: viewer },
      '/events?licensePlateNumber=06purpose1',
    );
    const failures: string[] = [];
    page.on('response', (answer) => {
      if (answer.status() >= 400) failures.push(answer.url());
    });
    const purpose = page.getByLabel('Purpose', { exact: true });
    await expect(purpose).toHaveValue('');
    await expect(page.getByText('The search has not started.')).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    const search = page.getByRole('button', { name: 'Search', exact: true });
    await search.click();
    expect(await purpose.evaluate((field: HTMLSelectElement) => field.validity.valueMissing)).toBe(true);
    await expect(purpose).toBeVisible();
    expect(await lookUps('06purpose1')).toEqual([]);
    await purpose.selectOption('MISSING');
    await page.getByLabel('Case number').fill('2026/14');
    await search.click();
    await expect(page.getByRole('row', { name: '06 PURPOSE 1' })).toBeVisible();
    await expect(page.getByText('Purpose: Missing person')).toBeVisible();
    await expectAccessible(page);

    await page.reload();
    await expect(page.getByRole('row', { name: '06 PURPOSE 1' })).toBeVisible();
    await expect(purpose).toHaveCount(0);
    await expect(page.getByText('Purpose: Missing person')).toBeVisible();
    const recorded = await lookUps('06purpose1');
    // One entry counts the searches of ten minutes by the clock of the service.
    const periods = recorded.map(({ timestamp }) => Math.floor(timestamp.getTime() / 600_000));
    expect(periods).toEqual([...new Set(periods)]);
    expect(recorded.at(-1)?.details).toMatchObject({ purpose: 'MISSING', caseNumber: '2026/14' });
    expect(failures).toEqual([]);

    // Another plate is asked for again; so is the same one in another tab, and once its time is over.
    await page.goto(`${asking.url}/events?licensePlateNumber=06purpose2`);
    await expect(purpose).toHaveValue('');
    await page.evaluate(() => {
      const kept = JSON.parse(sessionStorage.getItem('gantry.look-ups') ?? '[]');
      for (const [, answer] of kept) answer.at -= 600_000;
      sessionStorage.setItem('gantry.look-ups', JSON.stringify(kept));
    });
    await page.goto(`${asking.url}/events?licensePlateNumber=06purpose1`);
    await expect(purpose).toHaveValue('');
    await page.context().close();

    // The list of cases asks in the same way.
    const cases = await openAlone(browser, asking, '/cases?search=06purpose1');
    await expect(cases.getByText('The search has not started.')).toBeVisible();
    await cases.getByLabel('Purpose', { exact: true }).selectOption('STOLEN');
    await cases.getByRole('button', { name: 'Search', exact: true }).click();
    await expect(cases.getByText('No case matches these filters')).toBeVisible();
    await cases.reload();
    await expect(cases.getByText('No case matches these filters')).toBeVisible();
    await cases.getByRole('button', { name: 'Account' }).click();
    await cases.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(cases.getByLabel('E-mail address')).toBeVisible();
    expect(await cases.evaluate(() => sessionStorage.getItem('gantry.look-ups'))).toBe('[]');
    await cases.context().close();
  } finally {
    await asking.stop();
  }
});
