import { permissionNames } from '@gantry/contract/permissions';
import { Link, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/may.ts';
import { partLook } from '../../ui/part-look.ts';
import { Alerts } from './alerts.tsx';
import { Plates } from './plates.tsx';
import { SoundSettings } from './sound-settings.tsx';

/** The watchlist page: the alerts or the watched plates, and the sound settings. */
export function WatchlistPage() {
  const { t } = useTranslation('watchlist');
  const { part } = useSearch({ from: '/shell/watchlist' });
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <>
      <PageHeader
        subject={t(part === 'plates' ? 'plates.title' : 'alerts.title')}
        title={t('title')}
        note={
          <nav aria-label={t('title')} className="flex gap-1">
            <Part name="alerts" isOpen={part === undefined} />
            <Part name="plates" isOpen={part === 'plates'} />
          </nav>
        }
      >
        <SoundSettings />
      </PageHeader>
      <PlatesHidden />
      {part === 'plates' ? <Plates /> : <Alerts />}
    </>
  );
}

function Part({ name, isOpen }: { readonly name: 'alerts' | 'plates'; readonly isOpen: boolean }) {
  const { t } = useTranslation('watchlist');
  return (
    <Link
      to="/watchlist"
      search={name === 'plates' ? { part: 'plates' } : {}}
      activeOptions={{ exact: true }}
      aria-current={isOpen ? 'page' : undefined}
      className={partLook(isOpen)}
    >
      {t(`${name}.title`)}
    </Link>
  );
}
