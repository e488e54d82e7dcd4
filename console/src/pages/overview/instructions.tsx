import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon } from '../../ui/icon.tsx';

/** An instruction may end without anybody writing something, so the list is asked for again, in milliseconds. */
const AGAIN_MS = 60_000;
const SHOWN = 3;

/** The newest instructions of the log that are valid now; nothing without one. */
export function Instructions() {
  const { t } = useTranslation('overview');
  const { data } = useQuery({
    ...service.log.getAll.queryOptions({ valid: true, take: SHOWN }),
    enabled: useMay('manageIncidents'),
    refetchInterval: AGAIN_MS,
  });
  if (!data || data.entries.length === 0) return null;
  return (
    <section
      aria-label={t('instructions.title')}
      className="flex flex-wrap items-start gap-x-6 gap-y-1 rounded-md border border-medium bg-medium-surface px-3 py-1.5"
    >
      <ul className="flex min-w-0 grow basis-80 flex-col gap-y-1">
        {data.entries.map(({ id, text, validUntil }) => (
          <li key={id} className="flex gap-2">
            <Icon name="alert" className="mt-0.5 text-medium" />
            <span className="line-clamp-2 min-w-0 wrap-anywhere">
              <bdi>{text}</bdi>{' '}
              {validUntil && (
                <span className="text-muted">
                  {t('instructions.until')} <Moment at={validUntil} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Link to="/log" search={{ valid: true }} className="text-accent underline">
        {t(data.hasMore ? 'instructions.all' : 'instructions.log')}
      </Link>
    </section>
  );
}
