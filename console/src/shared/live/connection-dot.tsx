import { useTranslation } from 'react-i18next';
import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { useConnection } from '../service/connection.ts';
import { useNow, useTime } from '../time/use-time.ts';

/** A break that is shorter than this, in milliseconds, shows no banner. */
const BANNER_MS = 1_000;

/** The text of a state in several lines on a phone, whose top bar has no room for one. */
const WRAPPED = 'max-sm:text-sm max-sm:leading-tight max-sm:whitespace-normal';

/** The state of the connection to the service, in the top bar. */
export function ConnectionDot() {
  const { t } = useTranslation('common');
  const { state } = useConnection();
  if (state === 'live')
    return (
      <Badge tone="calm" icon="good">
        {t('connection.live')}
      </Badge>
    );
  if (state === 'off')
    return (
      <Badge tone="calm" icon="offline">
        <span className={classes(WRAPPED, 'max-sm:w-24')}>{t('connection.off')}</span>
      </Badge>
    );
  if (state === 'connecting')
    return (
      <Badge tone="calm" icon="refresh">
        <span className={classes(WRAPPED, 'max-sm:w-min')}>{t('connection.connecting')}</span>
      </Badge>
    );
  return (
    <Badge tone="high" icon="offline">
      <span className={classes(WRAPPED, 'max-sm:w-min')}>{t('connection.broken')}</span>
    </Badge>
  );
}

/** Whether the data may be stale, because the connection has been broken for at least a second. */
export function useIsStale(): boolean {
  const { state, brokenSince } = useConnection();
  const now = useNow();
  return state === 'broken' && now - (brokenSince ?? now) >= BANNER_MS;
}

/** The banner above the page while the connection is broken, with the time up to which the data is complete. */
export function ConnectionBanner() {
  const { t } = useTranslation('common');
  const { asOf } = useConnection();
  const time = useTime();
  if (!useIsStale()) return null;
  return (
    <p role="alert" className="flex items-center gap-2 border-b bg-high-surface px-4 py-1.5">
      <Icon name="offline" className="text-high" />
      <span>
        {t('connection.banner')}{' '}
        {asOf !== null && (
          <>
            {t('connection.asOf')} <span dir="ltr">{time.time(new Date(asOf))}</span>
          </>
        )}
      </span>
    </p>
  );
}
