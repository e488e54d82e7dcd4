import { doctorReport } from '@gantry/contract/doctor';
import {
  health,
  license,
  systemSettings,
  timezoneSettings,
  updateTimezoneInput,
  updateTimezoneOutput,
} from '@gantry/contract/system';
import { check } from '../operations/doctor/diagnose.ts';
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

  doctor: allowed('systemSettings')
    .meta({
      summary: 'Examine this installation',
      notes:
        'What is wrong with the settings, the data folder, the database and the work of the service, with remedies, as `gantry doctor` prints it. The folder and the clock are those of the process that answers.',
      question: true,
    })
    .output(doctorReport)
    .query(({ ctx }) => check(ctx.app.db, ctx.app.config)),

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
