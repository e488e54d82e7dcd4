import { Logger as JobLogger } from 'graphile-worker';
import type { Logger } from 'pino';

/** Levels of the job queue and of the service's log: what succeeds is its daily work, and worth no line. */
const levels = { error: 'warn', warning: 'warn', info: 'debug', debug: 'trace' } as const;

/** What the job queue has to say goes to the service's log. */
export const createJobLogger = (log: Logger): JobLogger =>
  new JobLogger(({ label }) => (level, message, meta) => {
    const err = meta?.error;
    log[levels[level]]({ part: label ?? 'jobs', ...(err !== undefined && { err }) }, message);
  });
