import { guardText } from '@gantry/contract/csv-text';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type ChartTable, csvOf, fileNameOf } from '../../../shared/csv/csv.ts';
import { csvChoice } from '../../../shared/csv/csv-choice.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { saveFile } from '../../../shared/service/files.ts';
import { api } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { usePlaceName } from '../place.tsx';
import {
  type CountBin,
  type CountsChoice,
  columnsOf,
  countOf,
  countsInput,
  type PeakOfDay,
  peaksAt,
} from './count-table.ts';
import { partNames } from './counts-table.tsx';

/** Reads the counts of all days of a choice, and saves them as CSV. */
export function useSaveCounts(choice: CountsChoice, title: string) {
  const { t } = useTranslation('chart');
  const time = useServiceTime();
  const { sayFailure } = useNotices();
  const tableOf = useCountTable();
  const name = usePlaceName(choice.place);
  const { startDate, endDate } = choice.days;
  return useMutation({
    mutationFn: async () => {
      const { bins } = await api.traffic.getCounts.query(countsInput(choice, choice.days));
      const facts = [title, name, time.days(choice.days), t('zoneFact', { zone: time.zone })];
      const csv = csvOf(tableOf(bins, []), time.zone, facts, csvChoice());
      saveFile(
        new Blob([csv], { type: 'text/csv;charset=utf-8' }),
        `${fileNameOf(title, name, startDate, endDate)}.csv`,
      );
    },
    onError: sayFailure,
  });
}

/** The counts as a table for files: a gap is an empty cell and never 0, and the status has a column of its own. */
export function useCountTable(): (bins: readonly CountBin[], peaks: readonly PeakOfDay[]) => ChartTable {
  const { t } = useTranslation('studies');
  return (bins, peaks) => {
    const columns = columnsOf(bins);
    const named = columns.map(({ part }) => {
      const { group, name } = partNames(part, t);
      return group === null ? name : `${group}, ${name}`;
    });
    return {
      columns: [
        { header: t('file.start'), kind: 'moment' },
        { header: t('file.end'), kind: 'moment' },
        ...named.map((header) => ({ header, kind: 'number' as const })),
        { header: t('counts.motorVehicles'), kind: 'number' },
        { header: t('counts.peak'), kind: 'text' },
        { header: t('file.status'), kind: 'text' },
        { header: t('file.coverage'), kind: 'share' },
      ],
      rows: bins.map((bin) => [
        bin.start,
        bin.end,
        ...columns.map((column) => countOf(bin, column)),
        bin.volume,
        peaksAt(bin, peaks).join(' '),
        bin.status,
        bin.coverage,
      ]),
    };
  };
}

/**
 * A table for pasting into a spreadsheet: tabs between the cells, and local days and times in columns of their own,
 * which spreadsheets understand.
 */
export function useTsv(): (table: ChartTable) => string {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  return ({ columns, rows }) => {
    const header = [t('file.date'), ...columns.map((column) => column.header)];
    const cells = rows.map((row) => [
      row[0] instanceof Date ? time.isoDay(row[0]) : '',
      ...row.map((cell) =>
        cell instanceof Date ? time.minute(cell) : typeof cell === 'string' ? guardText(cell) : cell,
      ),
    ]);
    return [header.map(guardText), ...cells]
      .map((row) => row.map((cell) => cell ?? '').join('\t'))
      .join('\r\n');
  };
}
