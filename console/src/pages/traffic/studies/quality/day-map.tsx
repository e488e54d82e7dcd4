import type { DataQualityOfPlace } from '@gantry/contract/quality';
import type { BinStatus } from '@gantry/contract/traffic';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { classes } from '../../../../ui/classes.ts';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { hatchingOf } from '../statuses.tsx';

export type QualityDay = DataQualityOfPlace['days'][number];

/** A line of the map: a place, and its days once they are known. */
export interface DayMapRow {
  readonly key: string;
  readonly name: ReactNode;
  readonly days: readonly QualityDay[] | undefined;
}

interface DayMapProps {
  readonly label: string;
  /** As `2026-05-01`, in order. */
  readonly days: readonly string[];
  readonly rows: readonly DayMapRow[];
  /** The day that is chosen. */
  readonly day: string | null;
  readonly onChoose: (row: DayMapRow, day: string) => void;
}

/** The sign of a status in a cell; a share stands for a day that is known in part. */
const signs: Readonly<Partial<Record<BinStatus, string>>> = {
  ...{ VALID: '✓', PROVISIONAL: '…', GAP: '–', EXCLUDED: '✕', IMPUTED: '≈' },
};

/**
 * What is left of the data of places by day: each status has a sign and a hatching, and a line below it says that rules
 * found something. Days on which there is something to see can be chosen.
 */
export function DayMap({ label, days, rows, day, onChoose }: DayMapProps) {
  const { t, i18n } = useTranslation('studies');
  const time = useServiceTime();
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'narrow', timeZone: 'UTC' });
  const head = 'sticky start-0 z-10 border-b border-e bg-surface px-3 text-start';
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      className="max-h-[30rem] relative overflow-auto rounded-md border bg-surface print:max-h-none"
    >
      <table className="border-separate border-spacing-0">
        <caption className="sr-only">{label}</caption>
        <thead className="sticky top-0 z-20 bg-surface text-sm text-muted">
          <tr>
            <th scope="col" className={classes(head, 'z-30 font-medium')}>
              {t('place')}
            </th>
            {days.map((each) => (
              <th
                key={each}
                scope="col"
                aria-label={time.day(each)}
                title={time.day(each)}
                className={classes('figures border-b p-1 font-normal', each === day && 'bg-selected')}
              >
                <span className="block leading-tight">{weekday.format(new Date(`${each}T00:00:00Z`))}</span>
                <span className="block leading-tight">{each.slice(8)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" className={classes(head, 'max-w-56 py-1 font-normal')}>
                <span className="one-line block">{row.name}</span>
              </th>
              {row.days === undefined ? (
                <td colSpan={days.length} className="border-b p-0">
                  <Skeleton rows={1} />
                </td>
              ) : (
                row.days.map((of) => (
                  <DayCell
                    key={of.date}
                    of={of}
                    isChosen={of.date === day}
                    onChoose={() => onChoose(row, of.date)}
                  />
                ))
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface DayCellProps {
  readonly of: QualityDay;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function DayCell({ of: { date, status, coverage, rules }, isChosen, onChoose }: DayCellProps) {
  const { t, i18n } = useTranslation('studies');
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' });
  const time = useServiceTime();
  const text = [
    time.day(date),
    t(`status.${status}`),
    t('known', { share: share.format(Math.floor(coverage * 100) / 100) }),
    ...(rules.length > 0 ? [rules.join(', ')] : []),
  ].join(', ');
  const sign = signs[status] ?? String(Math.floor(coverage * 100));
  const content = (
    <span
      className={classes(
        'flex h-6 items-center justify-center border-b-2 text-sm',
        rules.some((rule) => rule !== 'R18') ? 'border-current' : 'border-transparent',
      )}
    >
      {sign}
    </span>
  );
  const isPlain = status === 'VALID' && rules.length === 0;
  return (
    <td
      title={text}
      className={classes(
        'figures min-w-8 border-b border-e p-0 text-center',
        hatchingOf(status),
        isPlain && 'text-muted',
        isChosen && 'outline-2 -outline-offset-2 outline-accent',
      )}
    >
      {isPlain ? (
        <>
          <span aria-hidden="true">{content}</span>
          <span className="sr-only">{text}</span>
        </>
      ) : (
        <button type="button" aria-label={text} aria-pressed={isChosen} className="w-full" onClick={onChoose}>
          {content}
        </button>
      )}
    </td>
  );
}

/** What the signs of the map mean. */
export function SignLegend() {
  const { t } = useTranslation('studies');
  const all = (['VALID', 'PROVISIONAL', 'PARTIAL', 'GAP', 'EXCLUDED'] as const).map((status) => ({
    sign: signs[status] ?? '66',
    look: classes('rounded-sm border', hatchingOf(status)),
    text: status === 'PARTIAL' ? t('quality.partial') : t(`status.${status}`),
    title: t(`statusMeans.${status}`),
  }));
  const rules = {
    sign: '✓',
    look: 'border-b-2 border-current',
    text: t('quality.hasRules'),
    title: undefined,
  };
  return (
    <p className="text-sm text-muted">
      {[...all, rules].map(({ sign, look, text, title }) => (
        <span key={text} title={title} className="me-4 inline-block">
          <span aria-hidden="true" className={classes('me-1 inline-block w-7 text-center text-text', look)}>
            {sign}
          </span>
          {text}
        </span>
      ))}
    </p>
  );
}
