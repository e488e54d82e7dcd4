import { EXPIRING_DAYS } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { useAnchored } from '../../../ui/anchored.ts';
import { Button } from '../../../ui/button.tsx';
import { Popover } from '../../../ui/popover.tsx';

/** Maximum number of certificates that are named. */
const SHOWN = 20;

/** The certificates that end soon and are not followed by others, with their sensors; nothing if there are none. */
export function Expiring() {
  const { t } = useTranslation('certificates');
  const time = useServiceTime();
  const anchored = useAnchored();
  const { data } = useQuery(
    service.certificates.getAll.queryOptions({ expiringDays: EXPIRING_DAYS, take: SHOWN }),
  );
  if (!data || data.total === 0) return null;
  const title = t('expiring', { count: data.total });
  return (
    <Popover
      trigger={<Button icon="time">{title}</Button>}
      anchored={anchored}
      label={title}
      align="end"
      className="flex max-h-(--available-height) w-80 flex-col gap-2 overflow-y-auto"
    >
      <ul className="flex flex-col gap-2">
        {data.certificates.map(({ id, sensorId, sensorName, kind, validUntil }) => (
          <li key={id} className="flex flex-wrap gap-x-2">
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId }}
              className="text-accent underline pointer-coarse:py-2.5"
            >
              <bdi>{sensorName}</bdi>
            </Link>{' '}
            <span className="text-muted">{t(`kinds.${kind}`)}</span>{' '}
            <span dir="ltr" className="figures text-muted">
              {time.date(new Date(validUntil.getTime() - 1))}
            </span>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
