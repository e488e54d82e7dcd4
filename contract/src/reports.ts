import { z } from 'zod';
import { eventStats } from './events.ts';
import { pageTotals, paging } from './page.ts';
import { timeRange } from './time.ts';

export const analyticsInput = z.object(timeRange).prefault({});
/** The figures of an analytics page. */
export const analytics = eventStats;

export const listReportsInput = z.object(paging(50)).prefault({});
/** The reports that were generated. */
export const reportsPage = z.object({ reports: z.array(z.object({ id: z.string() })), ...pageTotals });
