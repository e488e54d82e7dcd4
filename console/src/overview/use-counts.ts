import { useQuery } from '@tanstack/react-query';
import { service } from '../service/service.ts';
import { useMay } from '../session/may.ts';

/** Of each kind, so many are shown. */
const SHOWN = 5;

const oldest = { sortBy: 'lastHeartbeat', sortOrder: 'asc', take: SHOWN } as const;

/** What needs attention, the oldest of each kind first, and how much of it there is. All of it is one request. */
export function useCounts() {
  const mayIncidents = useMay('manageIncidents');
  const all = useQuery(service.sensors.getAll.queryOptions({ take: 1 }));
  const offline = useQuery(service.sensors.getAll.queryOptions({ status: 'OFFLINE', ...oldest }));
  const failing = useQuery(service.sensors.getAll.queryOptions({ status: 'ERROR', ...oldest }));
  const critical = useQuery({
    ...service.incidents.getAll.queryOptions({
      status: ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'],
      severity: 'CRITICAL',
      sortBy: 'openedAt',
      sortOrder: 'asc',
      take: SHOWN,
    }),
    enabled: mayIncidents,
  });
  const alerts = useQuery({
    ...service.watchlist.getAlerts.queryOptions({ acknowledged: false, sortOrder: 'asc', take: SHOWN }),
    enabled: mayIncidents,
  });
  const answers = [all, offline, failing, ...(mayIncidents ? [critical, alerts] : [])];
  return {
    sensors: all.data?.total,
    offline: offline.data?.total,
    failing: failing.data?.total,
    critical: critical.data?.total,
    alerts: alerts.data?.total,
    isPending: answers.some(({ isPending }) => isPending),
    error: answers.find(({ error, data }) => error && !data)?.error ?? null,
    refetch: () => {
      for (const { refetch } of answers) void refetch();
    },
    rows: {
      critical: critical.data?.incidents ?? [],
      alerts: alerts.data?.alerts ?? [],
      failing: failing.data?.sensors ?? [],
      offline: offline.data?.sensors ?? [],
    },
  };
}
