import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Cell, ChartColumn } from '../csv/csv.ts';
import { useServiceTime } from '../time/use-time.ts';

/** The text of a gap. */
export const GAP = '–';

/** A column of days may also have the name of their average. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Formats cells for display: numbers in the user's language, times in the zone of the service. */
export function useCellText(): (cell: Cell, column: ChartColumn) => string {
  const { i18n } = useTranslation();
  const time = useServiceTime();
  return useMemo(() => {
    const formats = new Map<string, Intl.NumberFormat>();
    const formatOf = (isShare: boolean, digits: number) => {
      const key = `${isShare}${digits}`;
      const found =
        formats.get(key) ??
        new Intl.NumberFormat(i18n.language, {
          style: isShare ? 'percent' : 'decimal',
          maximumFractionDigits: digits,
        });
      formats.set(key, found);
      return found;
    };
    return (cell, { kind, digits }) => {
      if (cell === null) return GAP;
      if (cell instanceof Date)
        return kind === 'day' ? time.date(cell) : `${time.date(cell)} ${time.minute(cell)}`;
      if (typeof cell === 'string') return kind === 'day' && DAY.test(cell) ? time.day(cell) : cell;
      return formatOf(kind === 'share', digits ?? (kind === 'share' ? 1 : 0)).format(cell);
    };
  }, [i18n.language, time]);
}
