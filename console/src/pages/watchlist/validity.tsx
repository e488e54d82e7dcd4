import type { WatchlistEntry } from '@gantry/contract/watchlist';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow } from '../../shared/time/use-time.ts';
import { Badge } from '../../ui/badge.tsx';

/** Whether an entry is in force now, and its first and last day. */
export function Validity({ entry: { validFrom, validUntil } }: { readonly entry: WatchlistEntry }) {
  const { t } = useTranslation('watchlist');
  const now = useNow(60_000);
  const state =
    validFrom && validFrom.getTime() > now
      ? 'later'
      : validUntil && validUntil.getTime() < now
        ? 'over'
        : 'now';
  return (
    <span className="flex items-center gap-3">
      <Badge tone="calm" icon={state === 'now' ? 'good' : state === 'later' ? 'time' : 'none'}>
        {t(`validity.${state}`)}
      </Badge>
      {(validFrom || validUntil) && (
        <span className="text-muted" dir="ltr">
          {validFrom && <Moment at={validFrom} as="date" />} –{' '}
          {validUntil && <Moment at={validUntil} as="date" />}
        </span>
      )}
    </span>
  );
}
