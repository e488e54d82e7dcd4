import type { FirstAdministrator } from '../../accounts/first-administrator.ts';

// The messages between the processes of one service. The primary starts the workers, and the workers serve requests.

/** Messages of a worker. */
export type FromWorker =
  /** Its event loop turns. Sent with each beat (`BEAT_MS`). */
  | { readonly type: 'beat' }
  | { readonly type: 'prepared' }
  | {
      readonly type: 'listening';
      readonly url: string;
      readonly firstAdministrator: FirstAdministrator | null;
    }
  | { readonly type: 'getAllMetrics'; readonly request: number }
  | { readonly type: 'metrics'; readonly request: number; readonly text: string };

/** Messages of the primary. The number of a request is repeated in its answer. */
export type FromPrimary =
  | { readonly type: 'listen' }
  | { readonly type: 'stop' }
  | { readonly type: 'getMetrics'; readonly request: number }
  | { readonly type: 'allMetrics'; readonly request: number; readonly text: string };
