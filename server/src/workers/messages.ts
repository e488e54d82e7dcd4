import type { FirstAdministrator } from '../users/first-administrator.ts';

// What the processes of one service say to one another. The primary starts the workers, and the workers serve.

/** What a worker says. */
export type FromWorker =
  | { readonly say: 'prepared' }
  | {
      readonly say: 'listening';
      readonly url: string;
      readonly firstAdministrator: FirstAdministrator | null;
    }
  | { readonly say: 'allMetricsPlease'; readonly question: number }
  | { readonly say: 'myMetrics'; readonly question: number; readonly text: string };

/** What the primary says. The number of a question comes back with its answer. */
export type FromPrimary =
  | { readonly say: 'listen' }
  | { readonly say: 'stop' }
  | { readonly say: 'yourMetricsPlease'; readonly question: number }
  | { readonly say: 'allMetrics'; readonly question: number; readonly text: string };
