import type { Location } from '@gantry/contract/locations';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { PlaceMap } from '../../shared/map/map.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { useLocationPoints } from '../../shared/places/points.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { backLook } from '../../ui/back-look.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { LocationDialog } from './location-dialog.tsx';
import { EventsHere, SensorsHere, TrafficPanel } from './panels.tsx';

/** The page of one location: its traffic now and in the last day, sensors, latest events, details and place. */
export function LocationPage() {
  const { locationId } = useParams({ from: '/shell/locations/$locationId' });
  const { data, error, refetch } = useQuery(service.locations.getById.queryOptions({ id: locationId }));
  if (error && !data) {
    return (
      <div className="p-4">
        <Failure error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return data ? <LocationView key={data.id} location={data} /> : <Skeleton rows={8} />;
}

function LocationView({ location }: { readonly location: Location }) {
  const { t, i18n } = useTranslation('locations');
  const mayManage = useMay('manageSensors');
  const { id, name, address, speedLimit, description, createdAt } = location;
  return (
    <>
      <PageHeader
        subject={name}
        title={
          <>
            <Link to="/locations" aria-label={t('back')} className={backLook}>
              <Icon name="previous" size={20} />
            </Link>
            <bdi className="line-clamp-2 inline">{name}</bdi>
          </>
        }
      >
        <LinkButton icon="traffic" to="/traffic" search={{ locationId: id }}>
          {t('toTraffic')}
        </LinkButton>
        <LinkButton icon="events" to="/events" search={{ locationName: name }}>
          {t('events')}
        </LinkButton>
        {mayManage && <Commands location={location} />}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid items-start gap-3 lg:grid-cols-[3fr_2fr]">
          <div className="grid min-w-0 gap-3">
            <TrafficPanel location={location} />
            <SensorsHere locationId={id} />
            <EventsHere name={name} />
          </div>
          <div className="grid min-w-0 gap-3">
            <Panel title={t('details')}>
              <Facts
                facts={[
                  [t('fields.address'), address && <bdi>{address}</bdi>],
                  [t('fields.speedLimit'), speedLimit?.toLocaleString(i18n.language)],
                  [t('fields.description'), description && <bdi>{description}</bdi>],
                  [t('fields.createdAt'), <Moment key="created" at={createdAt} />],
                ]}
              />
            </Panel>
            <PlaceOf location={location} />
          </div>
        </div>
      </div>
    </>
  );
}

function PlaceOf({ location }: { readonly location: Location }) {
  const { t } = useTranslation('locations');
  const [locations] = useState([location]);
  const points = useLocationPoints(locations[0]?.updatedAt === location.updatedAt ? locations : [location]);
  return (
    <Panel title={t('place')}>
      {points.length === 0 ? (
        <p className="text-muted">{t('noPlace')}</p>
      ) : (
        <div className="h-64">
          <PlaceMap
            label={location.name}
            points={points}
            selectedId={location.id}
            onSelect={() => undefined}
          />
        </div>
      )}
    </Panel>
  );
}

function Commands({ location }: { readonly location: Location }) {
  const { t } = useTranslation(['locations', 'common']);
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  const close = () => setAsked(null);
  useShortcuts([{ keys: 'e', label: t('edit.title'), scope: 'page', run: () => setAsked('edit') }]);
  return (
    <>
      <Button icon="edit" onClick={() => setAsked('edit')}>
        {t('edit.action')}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setAsked('delete')}>
        {t('common:dialog.delete')}
      </Button>
      {asked === 'edit' && <LocationDialog location={location} onClose={close} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={t('delete.title')}
          action={t('common:dialog.delete')}
          run={() => api.locations.delete.mutate({ id: location.id })}
          onDone={() => void navigate({ to: '/locations' })}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{location.name}</bdi>
          </p>
          <p>{t('delete.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
