import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import { PointList } from '../../shared/map/point-list.tsx';
import { ViewSwitch } from '../../shared/map/view-switch.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { Panel } from '../../ui/panel.tsx';
import { PlaceCard } from './place-card.tsx';
import { useCounts } from './use-counts.ts';
import { usePlacePoints, usePlaces } from './use-places.ts';

/** All places with their traffic, sensors and incidents, on the map or as a list. */
export function PlacesPanel({ className }: { readonly className?: string }) {
  const { t } = useTranslation('overview');
  const { place: selectedId, places: form, kiosk } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  // Calls made at the same time share one response, so the largest ones wait until the figures are loaded.
  const isFirstThere = !useCounts().isPending;
  const { places, error, refetch } = usePlaces(isFirstThere);
  const points = usePlacePoints(places);
  const selected = places.find(({ id }) => id === selectedId);
  const select = (id: string | undefined) =>
    void navigate({ search: (all) => ({ ...all, place: id }), replace: true });
  const legend = {
    0: t('map.legend.0'),
    1: t('map.legend.1'),
    2: t('map.legend.2'),
    3: t('map.legend.3'),
    4: t('map.legend.4'),
  };
  const shown = { label: t('map.title'), points, selectedId, onSelect: select, legend };
  return (
    <Panel
      title={t('map.title')}
      isFull
      className={className}
      actions={
        !kiosk && (
          <ViewSwitch
            isMap={form !== 'list'}
            onSwitch={() =>
              void navigate({
                search: (all) => ({ ...all, places: form === 'list' ? undefined : 'list' }),
                replace: true,
              })
            }
          />
        )
      }
    >
      {error && <Failure error={error} onRetry={refetch} />}
      <div className="relative min-h-0 grow">
        {isFirstThere && (form === 'list' ? <PointList {...shown} /> : <PlaceMap {...shown} />)}
        {selected && <PlaceCard place={selected} onClose={() => select(undefined)} />}
      </div>
    </Panel>
  );
}
