import { AppError } from '../platform/error.ts';

/** Limits the number of open streams. */
export interface Streams {
  /**
   * Counts a new stream of the user.
   * @returns a function to be called once when the stream ends
   * @throws AppError `tooManyRequests` when the limit of the user or of the process is reached
   */
  admit(userId: string): () => void;
}

export function createStreams(most: { ofOneUser: number; inAll: number }): Streams {
  const open = new Map<string, number>();
  let all = 0;
  return {
    admit(userId) {
      const own = open.get(userId) ?? 0;
      if (own >= most.ofOneUser || all >= most.inAll) {
        throw new AppError('tooManyRequests', 'Too many streams are open: close some that are not needed', {
          retryAfterSeconds: 10,
        });
      }
      open.set(userId, own + 1);
      all++;
      return () => {
        const left = (open.get(userId) ?? 1) - 1;
        if (left > 0) open.set(userId, left);
        else open.delete(userId);
        all--;
      };
    },
  };
}
