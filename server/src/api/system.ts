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
    .meta({ summary: 'The licence of this installation' })
    .output(license)
    .query(({ ctx }) => getLicense(ctx.app)),

  health: open
    .meta({
      summary: 'Whether the service and its database work',
      notes: 'Always answers 200 with the truth in it. Load balancers use `/live` and `/ready`.',
    })
    .output(health)
    .query(({ ctx }) => getHealth(ctx.app)),

  getSettings: open
    .meta({ summary: 'Name, version and features of this installation' })
    .output(systemSettings)
    .query(({ ctx }) => getSettings(ctx.app)),

  timezone: router({
    getTimezoneSettings: open
      .meta({ summary: 'Time zone and how dates are shown' })
      .output(timezoneSettings)
      .query(({ ctx }) => getTimezoneSettings(ctx.app.db)),

    updateTimezoneSettings: allowed('systemSettings')
      .meta({ summary: 'Change the time zone or how dates are shown' })
      .input(updateTimezoneInput)
      .output(updateTimezoneOutput)
      .mutation(async ({ ctx, input }) => ({
        success: true as const,
        settings: await changeTimezoneSettings(ctx, input),
      })),
  }),
});
