import type { Location, LocationInFull } from '@gantry/contract/locations';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PlaceMap } from '../../shared/map/map.tsx';
import { EditAndDelete, Loaded, ResourcePage } from '../../shared/page/resource-page.tsx';
import { useLocationPoints } from '../../shared/places/points.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { BackLink, LinkButton } from '../../ui/links.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { LocationDialog } from './location-dialog.tsx';
import { MeasuringPoints } from './measuring-points.tsx';
import { EventsHere, SensorsHere, TrafficPanel } from './panels.tsx';

/** As posts along the road show it: to the metre. */
const KILOMETRE = { minimumFractionDigits: 3 };

/** The page of one location: its traffic now and in the last day, sensors, latest events, details and place. */
export function LocationPage() {
  const { locationId } = useParams({ from: '/shell/locations/$locationId' });
  const query = useQuery(service.locations.getById.queryOptions({ id: locationId }));
  return (
    <Loaded query={query}>{(location) => <LocationView key={location.id} location={location} />}</Loaded>
  );
}

function LocationView({ location }: { readonly location: LocationInFull }) {
  const { t, i18n } = useTranslation(['locations', 'studies']);
  const mayManage = useMay('manageSensors');
  const { road, kilometre, direction, lanes, hasShoulder } = location;
  const { id, name, address, speedLimit, speedUnits, description, createdAt } = location;
  return (
    <ResourcePage
      name={name}
      back={<BackLink to="/locations" aria-label={t('back')} />}
      commands={
        <>
          <LinkButton icon="traffic" to="/traffic" search={{ locationId: id }}>
            {t('toTraffic')}
          </LinkButton>
          <LinkButton icon="events" to="/events" search={{ locationName: name }}>
            {t('events')}
          </LinkButton>
          {mayManage && <Commands location={location} />}
        </>
      }
      main={
        <>
          <TrafficPanel location={location} />
          <SensorsHere locationId={id} />
          <MeasuringPoints locationId={id} />
          <EventsHere name={name} />
        </>
      }
      side={
        <>
          <Panel title={t('details')}>
            <Facts
              facts={[
                [t('fields.address'), address && <bdi>{address}</bdi>],
                [t('fields.speedLimit'), speedLimit?.toLocaleString(i18n.language)],
                [t('fields.road'), road && <bdi>{road}</bdi>],
                [t('fields.kilometre'), kilometre?.toLocaleString(i18n.language, KILOMETRE)],
                [t('fields.direction'), direction === 'BOTH' ? t('bothDirections') : direction],
                [t('fields.lanes'), lanes?.toLocaleString(i18n.language)],
                [t('fields.hasShoulder'), hasShoulder !== null && t(hasShoulder ? 'yes' : 'no')],
                [t('fields.speedUnits'), speedUnits && t(`studies:units.${speedUnits}`)],
                [t('fields.description'), description && <bdi>{description}</bdi>],
                [t('fields.createdAt'), <Moment key="created" at={createdAt} />],
              ]}
            />
          </Panel>
          <PlaceOf location={location} />
        </>
      }
    />
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

function Commands({ location }: { readonly location: LocationInFull }) {
  const { t } = useTranslation('locations');
  const navigate = useNavigate();
  return (
    <EditAndDelete
      name={location.name}
      texts={{
        edit: t('edit.action'),
        editTitle: t('edit.title'),
        deleteTitle: t('delete.title'),
        deleteText: t('delete.text'),
      }}
      editDialog={(close) => <LocationDialog location={location} onClose={close} />}
      remove={() => api.locations.delete.mutate({ id: location.id })}
      onRemoved={() => void navigate({ to: '/locations' })}
    />
  );
}
