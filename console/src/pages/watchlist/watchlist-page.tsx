import { permissionNames } from '@gantry/contract/permissions';
import { severities } from '@gantry/contract/values';
import { Link, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { setSound, trySound, useAudible, useSoundChoice } from '../../shared/announce/sound.ts';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { useAnchored } from '../../ui/anchored.ts';
import { Button } from '../../ui/button.tsx';
import { partLook } from '../../ui/links.tsx';
import { Popover } from '../../ui/popover.tsx';
import { Alerts } from './alerts.tsx';
import { Plates } from './plates.tsx';

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

/** The popover with the sound settings of this browser: on or off, and the severities that play a sound. */
function SoundSettings() {
  const { t } = useTranslation('watchlist');
  const choice = useSoundChoice();
  const audible = useAudible();
  const { on, muted } = choice;
  return (
    <Popover
      trigger={<Button icon={on ? 'sound' : 'silent'}>{on ? t('sound.on') : t('sound.off')}</Button>}
      anchored={useAnchored()}
      label={t('sound.title')}
      align="end"
      className="flex w-[min(22rem,calc(100vw-1.5rem))] flex-col gap-2"
    >
      <label className="flex min-h-8 items-center gap-2 font-medium pointer-coarse:min-h-11">
        <input
          type="checkbox"
          checked={on}
          onChange={() => setSound({ ...choice, on: !on })}
          className="size-4 accent-accent"
        />
        {t('sound.switch')}
      </label>
      <ul className="flex flex-col border-t pt-2">
        {severities.toReversed().map((severity) => {
          const isMuted = muted.includes(severity);
          return (
            <li key={severity} className="flex min-h-9 items-center gap-2">
              <label className="flex grow items-center gap-2 pointer-coarse:min-h-11">
                <input
                  type="checkbox"
                  disabled={!on}
                  checked={!isMuted}
                  onChange={() =>
                    setSound({
                      on,
                      muted: isMuted ? muted.filter((each) => each !== severity) : [...muted, severity],
                    })
                  }
                  className="size-4 accent-accent"
                />
                <SeverityBadge severity={severity} filled={false} />
              </label>
              <Button kind="quiet" icon="sound" onClick={() => void trySound(severity)}>
                {t('sound.try')}
              </Button>
            </li>
          );
        })}
      </ul>
      <p className="text-sm text-muted">{on && !audible ? t('sound.blocked') : t('sound.once')}</p>
    </Popover>
  );
}
