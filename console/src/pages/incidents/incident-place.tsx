import type { Incident } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import type { Rank } from '../../shared/map/point.ts';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { service } from '../../shared/service/service.ts';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';

const ranks: Readonly<Record<Incident['severity'], Rank>> = { LOW: 1, MEDIUM: 2, HIGH: 3, CRITICAL: 4 };

/** The place of an incident: its location, address and coordinates, and a map. */
export function IncidentPlace({ incident }: { readonly incident: Incident }) {
  const { t } = useTranslation(['incidents', 'common']);
  const { id, title, severity, location, locationId } = incident;
  const { data } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null,
    retry: false,
  });
  const place = location ?? data?.coordinates ?? null;
  const text = place && `${place.latitude}, ${place.longitude}`;
  return (
    <Panel title={t('place.title')}>
      <div className="flex flex-col gap-2">
        {data && (
          <Link
            to="/locations/$locationId"
            params={{ locationId: data.id }}
            className="flex gap-2 text-accent underline"
          >
            <Icon name="location" className="mt-0.5" />
            <bdi>{data.name}</bdi>
          </Link>
        )}
        {location?.address !== undefined && <bdi className="text-muted">{location.address}</bdi>}
        {place && text ? (
          <>
            <p className="flex items-center gap-2">
              <bdi className="figures font-mono text-sm" dir="ltr">
                {text}
              </bdi>
              <CopyButton label={t('place.copy')} iconOnly text={text} />
            </p>
            <div className="h-48 overflow-hidden rounded-md border">
              <PlaceMap
                label={t('place.title')}
                points={[
                  {
                    id,
                    label: title,
                    latitude: place.latitude,
                    longitude: place.longitude,
                    look: { rank: ranks[severity], mark: '!', text: t(`common:severity.${severity}`) },
                  },
                ]}
                selectedId={id}
                onSelect={() => undefined}
                fit="selected"
              />
            </div>
          </>
        ) : (
          !data && <p className="text-muted">{t('place.unknown')}</p>
        )}
      </div>
    </Panel>
  );
}
