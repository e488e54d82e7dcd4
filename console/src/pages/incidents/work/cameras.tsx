import type { IncidentDetail } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Images } from '../../../shared/events/images.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Panel } from '../../../ui/panel.tsx';

/** How often newer images are looked for while the page is shown, in milliseconds. */
const REFRESH_MS = 30_000;

/** The cameras near an incident, each with its newest image. */
export function Cameras({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const { id, location, locationId } = incident;
  const isPlaced = location !== null || locationId !== null;
  const { data } = useQuery({
    ...service.incidents.getCameras.queryOptions({ id }),
    enabled: isPlaced,
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  if (!isPlaced || !data) return null;
  return (
    <Panel title={t('cameras.title')}>
      {data.cameras.length === 0 && <p className="text-muted">{t('cameras.none')}</p>}
      <ul className="flex flex-col gap-3">
        {data.cameras.map(({ sensorId, name, direction, distance, image }) => (
          <li key={sensorId} className="flex flex-col gap-1">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <Link to="/sensors/$sensorId" params={{ sensorId }} className="text-accent underline">
                <bdi>{name}</bdi>
              </Link>
              <span className="text-sm text-muted">
                {t('cameras.metres', { n: distance })} {direction === 'BOTH' ? t('lanes.both') : direction}
              </span>
              {image && (
                <span className="ms-auto text-sm text-muted">
                  <Moment at={image.at} as="ago" />
                </span>
              )}
            </p>
            {image ? (
              <Images images={[image.address]} label={t('cameras.show', { name })} />
            ) : (
              <p className="text-sm text-muted">{t('cameras.noImage')}</p>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
