/** Where the job queue keeps its tables. Named everywhere, because it may come from the environment otherwise. */
export const QUEUE_SCHEMA = 'graphile_worker';
