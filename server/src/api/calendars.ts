import {
  calendarDay,
  calendarDayInput,
  calendarDays,
  calendarPage,
  createCalendarDaysInput,
  deleteCalendarDaysInput,
  deletedCalendarDay,
  deletedCalendarDays,
  listCalendarInput,
} from '@gantry/contract/calendars';
import { byId } from '@gantry/contract/id';
import {
  addCalendarDay,
  addCalendarDays,
  deleteCalendarDay,
  deleteCalendarDays,
} from '../traffic/calendar.ts';
import { listDays } from '../traffic/calendar-store.ts';
import { allowed, pageOf, router, signedIn } from './procedures.ts';

export const calendarsRouter = router({
  list: signedIn
    .meta({ question: true, summary: 'List the days on which traffic is not as usual' })
    .input(listCalendarInput)
    .output(calendarPage)
    .query(async ({ ctx: { app }, input }) => pageOf('days', await listDays(app.db, input), input.take)),

  create: allowed('manageSensors')
    .meta({
      summary: 'Add a day to the calendar',
      notes:
        'Holidays are in no average of working days (AWDT); the other days are notes beside the data (R18). The same day, kind and location again has its name replaced.',
    })
    .input(calendarDayInput)
    .output(calendarDay)
    .mutation(({ ctx, input }) => addCalendarDay(ctx, input)),

  createMany: allowed('manageSensors')
    .meta({ summary: 'Add up to 1000 days to the calendar, all or none' })
    .input(createCalendarDaysInput)
    .output(calendarDays)
    .mutation(async ({ ctx, input }) => ({ days: await addCalendarDays(ctx, input.days) })),

  delete: allowed('manageSensors')
    .meta({ summary: 'Delete a day of the calendar' })
    .input(byId)
    .output(deletedCalendarDay)
    .mutation(async ({ ctx, input }) => ({
      success: true as const,
      id: await deleteCalendarDay(ctx, input.id),
    })),

  deleteMany: allowed('manageSensors')
    .meta({
      summary: 'Delete up to 1000 days of the calendar',
      notes: 'Days that are not there are ignored.',
    })
    .input(deleteCalendarDaysInput)
    .output(deletedCalendarDays)
    .mutation(async ({ ctx, input }) => ({
      success: true as const,
      ids: await deleteCalendarDays(ctx, input.ids),
    })),
});
