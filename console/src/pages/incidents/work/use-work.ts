import type { Incident } from '@gantry/contract/incidents';
import { useRef } from 'react';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { useRefreshIncidents } from '../use-actions.ts';

/**
 * Returns a function that records something of the work on an incident. A failure is shown as a notice; incidents are
 * refetched in any case. A call while another one is under way waits for it.
 */
export function useWork(): (record: () => Promise<Incident>) => Promise<void> {
  const { sayFailure } = useNotices();
  const refresh = useRefreshIncidents();
  const last = useRef<Promise<unknown>>(Promise.resolve());
  return (record) => {
    const done = last.current.then(record).catch(sayFailure).then(refresh);
    last.current = done;
    return done;
  };
}
