import type { Core, RequestContext } from '../platform/context.ts';
import { isStopped, isWithoutConnection } from '../platform/database/failure.ts';
import { AppError } from '../platform/error.ts';

/** Maximum number of statements that wait for a connection, each for up to `questionMs`. */
const MAX_WAITING = 200;
const RETRY_AFTER_SECONDS = 5;

/**
 * Runs an expensive query on a few connections of its own, so that any number of them does not affect ingestion and
 * logins.
 * @throws AppError `unavailable` when too many are waiting; `tooSlow` when this one takes too long
 */
export async function answerQuestion<App extends Core, Context extends RequestContext<App>, Result>(
  ctx: Context,
  answer: (ctx: Context) => Promise<Result> | Result,
): Promise<Result> {
  const { questions, timings } = ctx.app;
  if (questions.$client.waitingCount >= MAX_WAITING) throw tooMany();
  try {
    return await answer({ ...ctx, app: { ...ctx.app, db: questions, pool: questions.$client } });
  } catch (error) {
    if (isStopped(error)) throw tooSlow(timings.questionMs, error);
    if (isWithoutConnection(error)) throw tooMany(error);
    throw error;
  }
}

function tooMany(cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    'Too many lists and statistics are being requested: try again in a few seconds',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause,
    },
  );
}

function tooSlow(limitMs: number, cause: unknown): AppError {
  return new AppError(
    'tooSlow',
    `This query takes the database longer than ${limitMs / 1000} seconds: narrow the time range, or search for more characters`,
    { cause },
  );
}
