import type { Core, RequestContext } from '../platform/context.ts';
import { isStopped, isWithoutConnection } from '../platform/database/failure.ts';
import { AppError } from '../platform/error.ts';

/** So many statements wait for a connection at most; each of them waits for up to 5 s. */
const MOST_WAITING = 200;
const RETRY_AFTER_SECONDS = 5;

/**
 * Answers a question on the connections that are there for questions, which are few, so that however many are asked,
 * events are stored and people log in as before.
 * @throws AppError `unavailable` when too many are asked at once; `tooSlow` when this one takes too long
 */
export async function answerQuestion<App extends Core, Context extends RequestContext<App>, Result>(
  ctx: Context,
  answer: (ctx: Context) => Promise<Result> | Result,
): Promise<Result> {
  const { questions, timings } = ctx.app;
  if (questions.$client.waitingCount >= MOST_WAITING) throw tooMany();
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
