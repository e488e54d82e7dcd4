import type { Alarm } from '@gantry/contract/alarms';
import { useMutation } from '@tanstack/react-query';
import { Link, linkOptions } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useNotices } from '../notices/notices.tsx';
import { queryClient } from '../service/queries.ts';
import { api, service } from '../service/service.ts';

// What every list of alarms shows of one. The texts are those of the page of alarms: pages that show alarms load them.

/** What an alarm is about, in a few words. */
export function alarmName({ place, ruleName }: Alarm): string {
  return place ?? ruleName;
}

/** The page of what an alarm is about; null if it has none. */
export function pageOfAlarm({ sensorId, incidentId, alertId }: Alarm) {
  if (incidentId !== null) return linkOptions({ to: '/incidents/$incidentId', params: { incidentId } });
  if (alertId !== null) return linkOptions({ to: '/watchlist', search: { alert: alertId } });
  return sensorId === null ? null : linkOptions({ to: '/sensors/$sensorId', params: { sensorId } });
}

/** What an alarm is about, as a link to it if it has a page. */
export function AlarmLink({ alarm }: { readonly alarm: Alarm }) {
  const page = pageOfAlarm(alarm);
  const name = <bdi>{alarmName(alarm)}</bdi>;
  if (page === null) return name;
  return (
    <Link {...page} className="text-accent underline">
      {name}
    </Link>
  );
}

/** Whether an alarm is firing, who acknowledged it, or why nobody is told. */
export function AlarmState({ alarm }: { readonly alarm: Alarm }) {
  const { t } = useTranslation('alarms');
  const { state, acknowledgedBy, silencedBy, inhibitedBy, isFlapping } = alarm;
  if (state === 'CLEARED')
    return (
      <Badge tone="calm" icon="good">
        {t('states.CLEARED')}
      </Badge>
    );
  if (silencedBy !== null || inhibitedBy !== null)
    return (
      <Badge tone="calm" icon="muted">
        {t(silencedBy === null ? `causes.${inhibitedBy?.cause ?? 'ALARM'}` : 'silenced')}
      </Badge>
    );
  if (acknowledgedBy)
    return (
      <Badge tone="calm" icon="acknowledge">
        <bdi className="one-line">{acknowledgedBy.name}</bdi>
      </Badge>
    );
  return (
    <Badge tone={state === 'PENDING' ? 'low' : 'high'} icon={state === 'PENDING' ? 'time' : 'alert'}>
      {t(isFlapping ? 'flapping' : `states.${state}`)}
    </Badge>
  );
}

/** Reads all lists of alarms again. */
export function readAlarmsAgain(): void {
  void queryClient.invalidateQueries({ queryKey: service.alarms.pathKey() });
}

/** Whether an alarm is firing and nobody has acknowledged it. */
const isOpen = ({ state, acknowledgedAt }: Alarm): boolean => state === 'FIRING' && acknowledgedAt === null;

/** Acknowledges alarms that are firing and that nobody has acknowledged; does nothing for others. */
export function useAcknowledgeAlarm() {
  const { t } = useTranslation('alarms');
  const { say, sayFailure } = useNotices();
  const { isPending, variables, mutate } = useMutation({
    mutationFn: ({ id }: Alarm) => api.alarms.acknowledge.mutate({ id }),
    onSuccess: (_, alarm) => say(t('acknowledgedOne', { name: alarmName(alarm) })),
    onError: sayFailure,
    // Also after a failure: the list shows who was faster.
    onSettled: readAlarmsAgain,
  });
  /** Returns false if there is nothing to acknowledge, or it is under way. */
  const acknowledge = (alarm: Alarm): boolean => {
    if (!isOpen(alarm) || (isPending && variables.id === alarm.id)) return false;
    mutate(alarm);
    return true;
  };
  return { isPending, acknowledge };
}

/** The button that acknowledges an alarm; nothing where there is nothing to acknowledge. */
export function AcknowledgeAlarm({ alarm }: { readonly alarm: Alarm }) {
  const { t } = useTranslation('alarms');
  const { isPending, acknowledge } = useAcknowledgeAlarm();
  const name = alarmName(alarm);
  if (!isOpen(alarm)) return null;
  return (
    <Button
      kind="quiet"
      icon="acknowledge"
      iconOnly
      disabled={isPending}
      aria-label={t('acknowledgeOne', { name })}
      onClick={() => acknowledge(alarm)}
    />
  );
}
