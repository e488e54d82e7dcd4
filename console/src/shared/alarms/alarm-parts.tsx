import type { Alarm } from '@gantry/contract/alarms';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
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

/** What an alarm is about, as a link to it if it has a page. */
export function AlarmLink({ alarm }: { readonly alarm: Alarm }) {
  const { sensorId, incidentId, alertId } = alarm;
  const name = <bdi>{alarmName(alarm)}</bdi>;
  const look = 'text-accent underline';
  if (incidentId !== null)
    return (
      <Link to="/incidents/$incidentId" params={{ incidentId }} className={look}>
        {name}
      </Link>
    );
  if (alertId !== null)
    return (
      <Link to="/watchlist" search={{ alert: alertId }} className={look}>
        {name}
      </Link>
    );
  if (sensorId !== null)
    return (
      <Link to="/sensors/$sensorId" params={{ sensorId }} className={look}>
        {name}
      </Link>
    );
  return name;
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

/** Acknowledges an alarm that is firing and that nobody has acknowledged; nothing for others. */
export function AcknowledgeAlarm({ alarm }: { readonly alarm: Alarm }) {
  const { t } = useTranslation('alarms');
  const { say, sayFailure } = useNotices();
  const name = alarmName(alarm);
  const { isPending, mutate } = useMutation({
    mutationFn: () => api.alarms.acknowledge.mutate({ id: alarm.id }),
    onSuccess: () => say(t('acknowledgedOne', { name })),
    onError: sayFailure,
    // Also after a failure: the list shows who was faster.
    onSettled: readAlarmsAgain,
  });
  if (alarm.state !== 'FIRING' || alarm.acknowledgedAt !== null) return null;
  return (
    <Button
      kind="quiet"
      icon="acknowledge"
      iconOnly
      disabled={isPending}
      aria-label={t('acknowledgeOne', { name })}
      onClick={() => mutate()}
    />
  );
}
