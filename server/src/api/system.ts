import {
  health,
  license,
  systemSettings,
  timezoneSettings,
  updateTimezoneInput,
  updateTimezoneOutput,
} from '@gantry/contract/system';
import { changeTimezoneSettings, getHealth, getLicense, getSettings } from '../system/service.ts';
import { getTimezoneSettings } from '../system/store.ts';
import { allowed, open, router } from './procedures.ts';

export const systemRouter = router({
  getLicense: open
    .meta({ summary: 'Get the licence of this installation' })
    .output(license)
    .query(({ ctx }) => getLicense(ctx.app)),

  health: open
    .meta({
      summary: 'Check whether the service and its database work',
      notes:
        'The status is always 200; the answer says what works. Load balancers should use `/live` and `/ready`.',
    })
    .output(health)
    .query(({ ctx }) => getHealth(ctx.app)),

  getSettings: open
    .meta({ summary: 'Get the name, version and features of this installation' })
    .output(systemSettings)
    .query(({ ctx }) => getSettings(ctx.app)),

  timezone: router({
    getTimezoneSettings: open
      .meta({ summary: 'Get the time zone and date format' })
      .output(timezoneSettings)
      .query(({ ctx }) => getTimezoneSettings(ctx.app.db)),

    updateTimezoneSettings: allowed('systemSettings')
      .meta({ summary: 'Change the time zone or date format' })
      .input(updateTimezoneInput)
      .output(updateTimezoneOutput)
      .mutation(async ({ ctx, input }) => ({
        success: true as const,
        settings: await changeTimezoneSettings(ctx, input),
      })),
  }),
});
