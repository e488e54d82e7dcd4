import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { AttentionPanel } from './attention-panel.tsx';
import { Figures } from './figures.tsx';
import { FirstRun } from './first-run.tsx';
import { KioskBar, StaleHatching } from './kiosk-bar.tsx';
import { NewestEvents } from './newest-events.tsx';
import { NewestIncidents } from './newest-incidents.tsx';
import { PlacesPanel } from './places-panel.tsx';
import { useHasIncidents } from './use-counts.ts';

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
  return (
    <div className="flex min-h-0 grow flex-col gap-3 overflow-y-auto px-4 py-3">
      <Figures />
      <div
        className={classes(
          'grid gap-3 lg:grid-cols-[2fr_1fr]',
          isWall && 'lg:min-h-48 lg:grow lg:basis-0 lg:grid-rows-[minmax(0,1fr)]',
        )}
      >
        <PlacesPanel className={isWall ? 'h-[50vh] lg:h-auto' : 'h-[50vh] min-h-80'} />
        <AttentionPanel className={isWall ? 'lg:min-h-0' : 'lg:h-[50vh] lg:min-h-80'} />
      </div>
      <div
        className={classes(
          'grid gap-3 lg:grid-cols-2',
          isWall && 'lg:h-[27vh] lg:shrink-0 lg:*:overflow-hidden',
        )}
      >
        <NewestEvents />
        {hasIncidents && <NewestIncidents />}
      </div>
    </div>
  );
}
