import type { BinStatus } from '@gantry/contract/traffic';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../../ui/badge.tsx';
import { classes } from '../../../ui/classes.ts';

/** How an interval that is not simply counted is drawn: each status has a hatching of its own (`ui/theme.css`). */
const hatchings: Readonly<Partial<Record<BinStatus, string>>> = {
  PROVISIONAL: 'hatch-provisional',
  PARTIAL: 'hatch-partial',
  GAP: 'hatch-gap',
  EXCLUDED: 'hatch-excluded',
  IMPUTED: 'hatch-imputed',
};

/** The class of the hatching of a status; undefined for a whole and valid interval. */
export function hatchingOf(status: BinStatus): string | undefined {
  return hatchings[status];
}

const looks: Readonly<Record<BinStatus, Look>> = {
  VALID: { tone: 'good', icon: 'good' },
  PROVISIONAL: { tone: 'calm', icon: 'time' },
  PARTIAL: { tone: 'medium', icon: 'medium' },
  GAP: { tone: 'calm', icon: 'none' },
  EXCLUDED: { tone: 'high', icon: 'high' },
  INSUFFICIENT: { tone: 'medium', icon: 'help' },
  IMPUTED: { tone: 'medium', icon: 'edit' },
};

/** The status of a figure as icon and text. */
export function StatusBadge({ status }: { readonly status: BinStatus }) {
  const { t } = useTranslation('studies');
  return <Badge {...looks[status]}>{t(`status.${status}`)}</Badge>;
}

/** What the hatchings of a table mean, and in how many intervals each occurs. */
export function StatusLegend({ statuses }: { readonly statuses: readonly BinStatus[] }) {
  const { t, i18n } = useTranslation('studies');
  const number = new Intl.NumberFormat(i18n.language);
  const all = ['VALID', 'PROVISIONAL', 'PARTIAL', 'GAP', 'EXCLUDED', 'IMPUTED'] as const;
  return (
    <dl className="grid gap-x-6 gap-y-1 text-sm sm:grid-cols-2 xl:grid-cols-3">
      {all
        .map((status) => ({ status, n: statuses.filter((each) => each === status).length }))
        .filter(({ n }) => n > 0)
        .map(({ status, n }) => (
          <div key={status} className="flex items-baseline gap-2">
            <dt className="flex shrink-0 items-center gap-2 whitespace-nowrap">
              <span
                aria-hidden="true"
                className={classes('inline-block h-3.5 w-7 rounded-sm border', hatchings[status])}
              />
              {t(`status.${status}`)} <span className="figures text-muted">{number.format(n)}</span>
            </dt>
            <dd className="text-muted">{t(`statusMeans.${status}`)}</dd>
          </div>
        ))}
    </dl>
  );
}
