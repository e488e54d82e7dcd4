import type { Analytics } from '@gantry/contract/analytics';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';

interface RepeatPlatesProps {
  readonly analytics: Analytics;
  readonly from: Date;
}

/** The plates seen most often, with links to their events. Roles that see no plates get `PlatesHidden` instead. */
export function RepeatPlates({ analytics: { repeatPlates }, from }: RepeatPlatesProps) {
  const { t, i18n } = useTranslation('reports');
  const seesPlates = useSeesPlates();
  if (!seesPlates) return null;
  const { since, plates } = repeatPlates;
  return (
    <section className="flex min-w-0 flex-col gap-2 rounded-md border bg-surface p-3">
      <header>
        <h2 className="text-lg font-semibold">{t('plates.title')}</h2>
        {since > from && (
          <p className="text-sm text-muted">
            {t('plates.since')} <Moment at={since} />
          </p>
        )}
      </header>
      {plates.length === 0 ? (
        <p className="text-muted">{t('plates.none')}</p>
      ) : (
        <ScrolledTable
          label={t('plates.title')}
          head="bg-raised"
          rows={plates}
          keyOf={({ licensePlateNumber }) => licensePlateNumber}
          columns={[
            {
              header: t('filters.licensePlateNumber'),
              cell: ({ licensePlateNumber }) => (
                <Link
                  to="/events"
                  search={{ licensePlateNumber }}
                  className="text-accent underline-offset-2 hover:underline"
                >
                  <bdi className="font-mono">{licensePlateNumber}</bdi>
                </Link>
              ),
            },
            {
              header: t('plates.seen'),
              isFigure: true,
              cell: ({ count }) => count.toLocaleString(i18n.language),
            },
            { header: t('plates.last'), isFigure: true, cell: ({ lastSeen }) => <Moment at={lastSeen} /> },
          ]}
        />
      )}
    </section>
  );
}
