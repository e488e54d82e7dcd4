import type { FactorsOfPlace } from '@gantry/contract/figures';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../shared/chart/card-frame.tsx';
import { GAP } from '../../../shared/chart/use-cell-text.ts';
import { useZoneNote } from '../../../shared/chart/use-zone-note.ts';
import { weekdaysFrom } from '../../../shared/time/format.ts';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { classes } from '../../../ui/classes.ts';
import { Reason } from './reasons.tsx';

interface FactorsCardProps {
  readonly factors: FactorsOfPlace;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

/** The factors of a year by month and weekday, by which the count of a day becomes an annual average. */
export function FactorsCard({ factors, subject, from, until }: FactorsCardProps) {
  const { t, i18n } = useTranslation('studies');
  const { firstDayOfWeek } = useTimeSettings();
  const zone = useZoneNote(from, until);
  const { year, months, combined, reason } = factors;
  const weekdays = weekdaysFrom(firstDayOfWeek, i18n.language);
  const name = new Intl.DateTimeFormat(i18n.language, { month: 'long', timeZone: 'UTC' });
  const rows = [
    ...months.map(({ month, factor }) => ({
      key: month,
      name: name.format(new Date(Date.UTC(year, month - 1))),
      cells: weekdays.map(
        ({ weekday }) =>
          combined.find((each) => each.month === month && each.weekday === weekday)?.factor ?? null,
      ),
      all: factor,
    })),
    {
      key: 0,
      name: t('factors.allMonths'),
      cells: weekdays.map(
        ({ weekday }) => factors.weekdays.find((each) => each.weekday === weekday)?.factor ?? null,
      ),
      all: null,
    },
  ];
  const known = combined.filter(({ factor }) => factor !== null).length;
  const title = t('factors.title', { year });
  const headers = [t('annual.month'), ...weekdays.map((each) => each.name), t('factors.allDays')];
  return (
    <CardFrame
      {...{ title, subject, zone }}
      n={t('factors.n', { n: known, of: combined.length })}
      table={{
        columns: headers.map((header, at) => ({ header, kind: at === 0 ? 'text' : 'number', digits: 3 })),
        rows: rows.map((row) => [row.name, ...row.cells, row.all]),
      }}
    >
      {reason !== null && (
        <p className="text-sm">
          <Reason text={reason} />
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section aria-label={title} tabIndex={0} className="overflow-x-auto">
        <table className="figures w-full border-separate border-spacing-0">
          <caption className="sr-only">{title}</caption>
          <thead>
            <tr>
              {headers.map((header, at) => (
                <th
                  key={header}
                  scope="col"
                  className={classes(
                    'border-b px-2 py-1 text-sm font-medium text-muted',
                    at === 0 ? 'sticky start-0 bg-surface text-start' : 'text-end',
                  )}
                >
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key} className={classes(row.key === 0 && 'font-semibold')}>
                <th
                  scope="row"
                  className="sticky start-0 border-b bg-surface px-2 py-1 text-start font-normal whitespace-nowrap"
                >
                  {row.name}
                </th>
                {row.cells.map((factor, at) => (
                  <FactorCell key={weekdays[at]?.weekday} factor={factor} />
                ))}
                {row.key === 0 ? <td className="border-b" /> : <FactorCell factor={row.all} isMargin />}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className="text-sm text-muted">{t('factors.note')}</p>
    </CardFrame>
  );
}

/** The share of the accent colour behind a factor that is lower by 1 than another, and its maximum, in percent. */
const SHADE = { perUnit: 100, most: 35, none: 1.2 };

/** A factor; the busier the day, that is, the lower the factor, the more colour is behind it. */
function FactorCell({
  factor,
  isMargin = false,
}: {
  readonly factor: number | null;
  readonly isMargin?: boolean;
}) {
  const { i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const shade =
    factor === null
      ? 0
      : Math.min(SHADE.most, Math.max(0, Math.round((SHADE.none - factor) * SHADE.perUnit)));
  return (
    <td
      className={classes(
        'border-b px-2 py-1 text-end',
        factor === null && 'hatch-gap',
        isMargin && 'border-s font-semibold',
      )}
      style={
        shade > 0
          ? { backgroundColor: `color-mix(in oklab, var(--accent) ${shade}%, transparent)` }
          : undefined
      }
    >
      {factor === null ? GAP : format.format(factor)}
    </td>
  );
}
