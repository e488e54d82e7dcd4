import type { FirstAdministrator } from '../users/first-administrator.ts';

// The messages between the processes of one service. The primary starts the workers, and the workers serve requests.

/** Messages of a worker. */
export type FromWorker =
  | { readonly say: 'prepared' }
  | {
      readonly say: 'listening';
      readonly url: string;
      readonly firstAdministrator: FirstAdministrator | null;
    }
  | { readonly say: 'allMetricsPlease'; readonly question: number }
  | { readonly say: 'myMetrics'; readonly question: number; readonly text: string };

/** Messages of the primary. The number of a request is repeated in its answer. */
export type FromPrimary =
  | { readonly say: 'listen' }
  | { readonly say: 'stop' }
  | { readonly say: 'yourMetricsPlease'; readonly question: number }
  | { readonly say: 'allMetrics'; readonly question: number; readonly text: string };
