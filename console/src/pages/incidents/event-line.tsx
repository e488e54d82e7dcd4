import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';

/** An event in one line: type, number plate or violation, place and time. Shows the id until the event is loaded. */
export function EventLine({ id }: { readonly id: string }) {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  const { data } = useQuery(service.events.getById.queryOptions({ id }));
  if (!data) return <bdi className="one-line font-mono text-sm">{id}</bdi>;
  return (
    <span className="one-line">
      {t(`types.${data.eventType}`)}{' '}
      <bdi>{data.licensePlateNumber ?? (data.violationType && names.violation(data.violationType))}</bdi>{' '}
      <bdi className="text-muted">{data.locationName ?? data.sensorName}</bdi>{' '}
      <span className="text-muted">
        <Moment at={data.timestamp} />
      </span>
    </span>
  );
}
