import { AppError } from '../platform/error.ts';

/** Bounds how many streams are open at once. */
export interface Streams {
  /**
   * Counts one more stream of the user.
   * @returns counts it off
   * @throws AppError `tooManyRequests` when the user, or everybody together, has as many as there may be
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
