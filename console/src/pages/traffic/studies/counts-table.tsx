import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { GAP } from '../../../shared/chart/use-cell-text.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { classes } from '../../../ui/classes.ts';
import {
  type CountBin,
  type CountColumn,
  type CountPart,
  type CountsChoice,
  countOf,
  hourFrom,
  type PeakOfDay,
  peaksAt,
  sumOf,
} from './count-table.ts';
import { hatchingOf, StatusBadge } from './statuses.tsx';

/** The names of a part of a count: what several columns have in common, and what is above the single one. */
export function partNames(
  { direction, lane, class: code, movement }: CountPart,
  t: TFunction<'studies'>,
): { group: string | null; name: string } {
  const names = [
    movement && t('from', { leg: t(`legs.${movement.from as 'N'}`) }),
    movement?.turn && t(`turns.${movement.turn as 'L'}`),
    typeof direction === 'number' ? `${direction}°` : direction,
    typeof lane === 'number' ? t('lane', { lane }) : lane,
    code && t(`classes.${code as 'CAR'}`),
  ].filter((name) => name !== undefined && name !== '');
  const [first = t('notStated'), ...rest] = names;
  return rest.length > 0 ? { group: first, name: rest.join(', ') } : { group: null, name: first };
}

/** Whether the clocks change within the intervals, so that a time of day may occur twice. */
function isClockChanged(bins: readonly CountBin[], offset: (at: Date) => string): boolean {
  return new Set(bins.map(({ start }) => offset(start))).size > 1;
}

interface CountsTableProps {
  readonly label: string;
  readonly bins: readonly CountBin[];
  readonly columns: readonly CountColumn[];
  readonly peaks: readonly PeakOfDay[];
  readonly interval: CountsChoice['interval'];
}

/** The counts of a place by interval: the parts, their sum, which rows are peak hours, and what is known. */
export function CountsTable({ label, bins, columns, peaks, interval }: CountsTableProps) {
  const { t, i18n } = useTranslation('studies');
  const { offset } = useServiceTime();
  const number = new Intl.NumberFormat(i18n.language);
  const text = (value: number | null) => (value === null ? GAP : number.format(value));
  const isByDay = interval === 'day';
  const withOffset = !isByDay && isClockChanged(bins, offset);
  const sum = 'border-t bg-surface px-3 py-1.5';
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      className="max-h-[calc(100dvh-10rem)] min-h-80 relative overflow-auto rounded-md border bg-surface print:max-h-none"
    >
      <table className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{label}</caption>
        <Head columns={columns} interval={interval} />
        <tbody>
          {bins.map((bin, at) => (
            <Row
              key={bin.start.toISOString()}
              {...{ bin, columns, text, interval, withOffset }}
              hour={interval === '15min' ? hourFrom(bins, at) : null}
              peaks={isByDay ? [] : peaksAt(bin, peaks)}
            />
          ))}
        </tbody>
        <tfoot className="sticky bottom-0 z-10 font-semibold">
          <tr>
            <th scope="row" className={classes(sum, 'sticky start-0 text-start sm:whitespace-nowrap')}>
              {t('counts.sum')}
            </th>
            {columns.map((column) => (
              <td key={column.key} className={classes(sum, 'figures text-end')}>
                {text(sumOf(bins.map((bin) => countOf(bin, column))))}
              </td>
            ))}
            <td className={classes(sum, 'figures text-end')}>
              {text(sumOf(bins.map(({ volume }) => volume)))}
            </td>
            {interval === '15min' && <td className={sum} />}
            {!isByDay && <td className={sum} />}
            <td className={sum} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

/** Two rows if columns have something in common, such as the direction of several lanes. */
function Head({ columns, interval }: Pick<CountsTableProps, 'columns' | 'interval'>) {
  const { t } = useTranslation('studies');
  const isByDay = interval === 'day';
  const named = columns.map(({ key, part, isMotor }) => ({ key, isMotor, ...partNames(part, t) }));
  const isGrouped = named.some(({ group }) => group !== null);
  const rows = isGrouped ? 2 : 1;
  const cell = 'border-b bg-surface px-3 py-1 text-sm font-medium text-muted whitespace-nowrap';
  const outside = <span className="block font-normal">{t('counts.notInSum')}</span>;
  return (
    <thead className="sticky top-0 z-20">
      <tr>
        <th scope="col" rowSpan={rows} className={classes(cell, 'sticky start-0 z-20 text-start')}>
          {t(isByDay ? 'counts.day' : 'counts.time')}
        </th>
        {named
          .filter(({ group }, at) => group === null || group !== named[at - 1]?.group)
          .map(({ key, group, name, isMotor }) =>
            group === null ? (
              <th key={key} scope="col" rowSpan={rows} className={classes(cell, 'text-end align-bottom')}>
                <bdi>{name}</bdi>
                {!isMotor && outside}
              </th>
            ) : (
              <th
                key={key}
                scope="colgroup"
                colSpan={named.filter((other) => other.group === group).length}
                className={classes(cell, 'border-s text-center')}
              >
                <bdi>{group}</bdi>
              </th>
            ),
          )}
        <th scope="col" rowSpan={rows} className={classes(cell, 'border-s text-end align-bottom')}>
          {t('counts.motorVehicles')}
        </th>
        {interval === '15min' && (
          <th scope="col" rowSpan={rows} className={classes(cell, 'text-end align-bottom')}>
            {t('counts.hour')}
          </th>
        )}
        {!isByDay && (
          <th scope="col" rowSpan={rows} className={classes(cell, 'text-start align-bottom')}>
            {t('counts.peak')}
          </th>
        )}
        <th scope="col" rowSpan={rows} className={classes(cell, 'w-full ps-4 text-start align-bottom')}>
          {t('counts.known')}
        </th>
      </tr>
      {isGrouped && (
        <tr>
          {named
            .filter(({ group }) => group !== null)
            .map(({ key, name, isMotor }) => (
              <th key={key} scope="col" className={classes(cell, 'text-end')}>
                <bdi>{name}</bdi>
                {!isMotor && outside}
              </th>
            ))}
        </tr>
      )}
    </thead>
  );
}

interface RowProps extends Pick<CountsTableProps, 'columns' | 'interval'> {
  readonly bin: CountBin;
  /** The volume of the hour that begins with the interval. */
  readonly hour: number | null;
  readonly peaks: readonly PeakOfDay['window'][];
  readonly withOffset: boolean;
  readonly text: (value: number | null) => string;
}

function Row({ bin, hour, columns, peaks, interval, withOffset, text }: RowProps) {
  const { t, i18n } = useTranslation('studies');
  const time = useServiceTime();
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' });
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: time.zone });
  const { start, end, status, coverage, volume, reason } = bin;
  const isByDay = interval === 'day';
  const isPeak = peaks.length > 0;
  const cell = classes('border-b px-3 py-0.5', isPeak && 'bg-selected');
  const figure = classes(cell, 'figures min-w-16 text-end', hatchingOf(status));
  return (
    <tr>
      <th
        scope="row"
        className={classes(
          'figures sticky start-0 border-b px-3 py-0.5 text-start font-normal whitespace-nowrap',
          isPeak ? 'border-s-4 border-s-accent bg-selected' : 'bg-surface',
        )}
      >
        {isByDay ? (
          <>
            {weekday.format(start)} <bdi dir="ltr">{time.date(start)}</bdi>
          </>
        ) : (
          <bdi dir="ltr">
            {time.minute(start)}–{time.minute(end)}
            {withOffset && <span className="text-sm text-muted"> {time.offset(start)}</span>}
          </bdi>
        )}
      </th>
      {columns.map((column) => (
        <td key={column.key} className={figure}>
          {text(countOf(bin, column))}
        </td>
      ))}
      <td className={classes(figure, 'border-s font-medium')}>{text(volume)}</td>
      {interval === '15min' && <td className={classes(cell, 'figures text-end text-muted')}>{text(hour)}</td>}
      {!isByDay && (
        <td className={classes(cell, 'text-sm font-medium whitespace-nowrap')}>
          {peaks.map((window) => t(`windows.${window}`)).join(', ')}
        </td>
      )}
      <td className={classes(cell, 'ps-4 text-sm whitespace-nowrap')}>
        {status === 'VALID' ? (
          <span className="text-muted">{t('status.VALID')}</span>
        ) : (
          <>
            <StatusBadge status={status} />
            {(status === 'PARTIAL' || status === 'PROVISIONAL') && (
              <span className="figures text-muted">
                {' '}
                {t('known', { share: share.format(Math.floor(coverage * 100) / 100) })}
              </span>
            )}
            {reason && <span className="text-muted">: {t('counts.longer')}</span>}
          </>
        )}
      </td>
    </tr>
  );
}
