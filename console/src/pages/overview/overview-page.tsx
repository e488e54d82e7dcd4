import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Command, firstEventCommand } from '../../shared/events/first-event.tsx';
import { ConnectionDot, useIsStale } from '../../shared/live/connection-dot.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Clock } from '../../shared/time/clock.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AttentionPanel } from './attention-panel.tsx';
import { Figures } from './figures.tsx';
import { Instructions } from './instructions.tsx';
import { NewestEvents } from './newest-events.tsx';
import { incidentPath } from './paths.ts';
import { PlacesPanel } from './places-panel.tsx';
import { RowList } from './row-list.tsx';
import { useHasIncidents } from './use-counts.ts';
import { useNextWorks, WorksPanel } from './works-panel.tsx';

/** The start page for the control room. `?kiosk=1` turns it into a wall display. */
export function OverviewPage() {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  const navigate = useNavigate({ from: '/' });
  const turn = () =>
    void navigate({ search: (all) => ({ ...all, kiosk: kiosk ? undefined : 1 }), replace: true });
  useShortcuts([{ keys: 'w', label: t('kiosk.turn'), scope: 'page', run: turn }]);
  const { data: sensors } = useQuery(service.sensors.getAll.queryOptions({ take: 1 }));
  return (
    <>
      {kiosk ? (
        <KioskBar />
      ) : (
        <PageHeader title={t('title')}>
          <Button icon="fullScreen" onClick={turn}>
            {t('kiosk.open')}
          </Button>
        </PageHeader>
      )}
      <PlatesHidden />
      {sensors?.total === 0 ? <FirstRun /> : <Content isWall={kiosk === 1} />}
      {kiosk && <StaleHatching />}
    </>
  );
}

/** The content of the page. Nobody can scroll a wall display, so there the map takes the remaining height. */
function Content({ isWall }: { readonly isWall: boolean }) {
  const hasIncidents = useHasIncidents();
  const mayAlarms = useMay('manageIncidents');
  const works = useNextWorks();
  return (
    <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto px-4 py-3">
      {!isWall && <NobodyTold />}
      <Figures />
      <Instructions />
      <div
        className={classes(
          'grid gap-3',
          mayAlarms && 'lg:grid-cols-[2fr_1fr]',
          isWall && 'lg:min-h-48 lg:grow lg:basis-0 lg:grid-rows-[minmax(0,1fr)]',
        )}
      >
        <PlacesPanel windows={works} className={isWall ? 'h-[50vh] lg:h-auto' : 'h-[50vh] min-h-80'} />
        {mayAlarms && <AttentionPanel className={isWall ? 'lg:min-h-0' : 'lg:h-[50vh] lg:min-h-80'} />}
      </div>
      <div
        className={classes(
          'grid gap-3',
          works.length > 0 ? 'lg:grid-cols-3' : 'lg:grid-cols-2',
          isWall && 'lg:h-[27vh] lg:shrink-0 lg:*:overflow-hidden',
        )}
      >
        <NewestEvents />
        {hasIncidents && <NewestIncidents />}
        {works.length > 0 && <WorksPanel windows={works} />}
      </div>
    </div>
  );
}

/** Says to those who can change it that nobody is told of alarms, because there is no channel yet. */
function NobodyTold() {
  const { t } = useTranslation('overview');
  const maySet = useMay('systemSettings');
  const { data } = useQuery({ ...service.channels.getAll.queryOptions(), enabled: maySet });
  if (!data || data.channels.length > 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 rounded-md border bg-surface px-3 py-1.5">
      <Icon name="muted" className="text-muted" />
      {t('nobodyTold.text')}
      <Link to="/administration/alarms" className="text-accent underline">
        {t('nobodyTold.action')}
      </Link>
    </p>
  );
}

/** The header of the wall display: the time, the connection state, and a link to leave kiosk mode. */
function KioskBar() {
  const { t } = useTranslation('overview');
  useLargeType();
  return (
    <header className="flex flex-wrap items-center gap-x-4 border-b bg-surface px-4 py-2">
      <h1 className="grow text-xl font-semibold">{t('title')}</h1>
      <Clock />
      <ConnectionDot />
      <Link
        to="/"
        search={{}}
        aria-label={t('kiosk.leave')}
        title={t('kiosk.leave')}
        className="grid size-9 place-items-center rounded-md text-muted hover:bg-hover pointer-coarse:size-11"
      >
        <Icon name="close" />
      </Link>
    </header>
  );
}

/** Enlarges the page: all sizes are relative to the font size of the root element. */
function useLargeType(): void {
  useEffect(() => {
    const { style } = document.documentElement;
    style.fontSize = '125%';
    return () => {
      style.fontSize = '';
    };
  }, []);
}

/** Hatches the wall display while the connection is broken, because viewers are too far away to read the banner. */
function StaleHatching() {
  if (!useIsStale()) return null;
  return <div aria-hidden="true" className="stale pointer-events-none fixed inset-0 z-30 opacity-100!" />;
}

/** The first steps, shown while the installation has no sensor. */
function FirstRun() {
  const { t } = useTranslation('overview');
  const navigate = useNavigate();
  const mayManage = useMay('manageSensors');
  return (
    <div className="mx-auto w-full max-w-3xl p-4">
      <Panel title={t('firstRun.title')}>
        <ol className="flex list-decimal flex-col gap-5 ps-5">
          <li>
            <p className="mb-2">{mayManage ? t('firstRun.sensor') : t('firstRun.askForSensor')}</p>
            {mayManage && (
              <Button
                kind="primary"
                icon="add"
                onClick={() => void navigate({ to: '/sensors', search: { create: true } })}
              >
                {t('firstRun.create')}
              </Button>
            )}
          </li>
          <li>
            <p className="mb-2">{t('firstRun.event')}</p>
            <Command text={firstEventCommand()} />
          </li>
          <li>
            <p className="mb-2">{t('firstRun.simulate')}</p>
            <Command text="npm run simulate" />
          </li>
          <li>
            <p className="mb-2">{t('firstRun.demo')}</p>
            <Command text="npm run demo" />
          </li>
        </ol>
      </Panel>
    </div>
  );
}

const SHOWN = 8;

function NewestIncidents() {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  const titleOf = useIncidentTitle();
  const all: string = '/incidents';
  const { data, error, refetch } = useQuery(service.incidents.getAll.queryOptions({ take: SHOWN }));
  return (
    <Panel
      title={t('newest.incidents')}
      isFull
      actions={
        <Link to={all} className="text-accent underline">
          {t('newest.all')}
        </Link>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={SHOWN} />}
      {data?.total === 0 && <p className="p-3 text-muted">{t('newest.noIncidents')}</p>}
      <RowList isWall={kiosk === 1}>
        {data?.incidents.map(({ id, title, type, severity, status, openedAt }) => (
          <li key={id} className="border-b last:border-b-0">
            <Link
              to={incidentPath(id)}
              className="flex min-h-9 items-center gap-2 px-3 hover:bg-hover pointer-coarse:min-h-11"
            >
              <Moment at={openedAt} as="ago" className="text-muted" />
              <bdi className="one-line min-w-0 grow">{titleOf({ title, type })}</bdi>
              <SeverityBadge severity={severity} />
              <IncidentStatusBadge status={status} />
            </Link>
          </li>
        ))}
      </RowList>
    </Panel>
  );
}
