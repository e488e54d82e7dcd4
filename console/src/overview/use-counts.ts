import { useQuery } from '@tanstack/react-query';
import { isFeatureOff, useHasFeature } from '../service/features.ts';
import { service } from '../service/service.ts';
import { useMay } from '../session/may.ts';

/** Of each kind, so many are shown. */
const SHOWN = 5;

const oldest = { sortBy: 'lastHeartbeat', sortOrder: 'asc', take: SHOWN } as const;

/**
 * What needs attention, the oldest of each kind first, and how much of it there is. All of it is one request.
 * @returns `alerts` null where the user may not see them, or the service has no watchlist
 */
export function useCounts() {
  const mayAlerts = useMay('manageIncidents');
  const hasIncidents = useHasIncidents();
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
    enabled: hasIncidents,
  });
  const alerts = useQuery({
    ...service.watchlist.getAlerts.queryOptions({ acknowledged: false, sortOrder: 'asc', take: SHOWN }),
    enabled: mayAlerts,
  });
  const hasAlerts = mayAlerts && !isFeatureOff(alerts.error, 'watchlist');
  const answers = [
    all,
    offline,
    failing,
    ...(hasIncidents ? [critical] : []),
    ...(hasAlerts ? [alerts] : []),
  ];
  return {
    sensors: all.data?.total,
    offline: offline.data?.total,
    failing: failing.data?.total,
    critical: critical.data?.total,
    alerts: hasAlerts ? alerts.data?.total : null,
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

/** Whether the user may see incidents, and the service has them. */
export function useHasIncidents(): boolean {
  const hasFeature = useHasFeature('incidents');
  return useMay('manageIncidents') && hasFeature;
}
