import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { loadCode } from '../../ui/load-code.ts';
import type { Filter, FilterValues } from '../filters/filter.ts';
import { useNotices } from '../notices/notices.tsx';
import { saveFile } from '../service/files.ts';
import { useZone } from '../time/zone.ts';
import type { ExportColumn } from './export.ts';
import type { Pages } from './pages.ts';

/** What writes the file: lists that nobody exports need none of it. */
const loadWriter = () =>
  loadCode(() =>
    Promise.all([import('./export.ts'), import('../csv/csv.ts'), import('../csv/csv-choice.ts')]),
  );

interface ExportButtonProps<Row> {
  /** What the rows are. Used for the label of the button, the name of the file and the facts in it. */
  readonly title: string;
  readonly columns: readonly ExportColumn<Row>[];
  readonly pages: Pick<Pages<Row>, 'load' | 'keyOf' | 'total'>;
  readonly filters?: readonly Filter[];
  readonly values?: FilterValues;
}

/** Saves all rows of the list as CSV, not only those that are loaded. While they are loading, the button cancels. */
export function ExportButton<Row>(props: ExportButtonProps<Row>) {
  const { title, columns, pages, filters = [], values = {} } = props;
  const { t, i18n } = useTranslation('common');
  const zone = useZone();
  const { say, sayFailure } = useNotices();
  const [share, setShare] = useState(0);
  const reading = useRef<AbortController | null>(null);
  const number = (n: number) => n.toLocaleString(i18n.language);
  const save = useMutation({
    mutationFn: async () => {
      setShare(0);
      reading.current = new AbortController();
      const { signal } = reading.current;
      const [{ csvOfRows, filterFacts, loadAllRows, MAX_ROWS }, { fileNameOf }, { csvChoice }] =
        await loadWriter();
      const found = await loadAllRows(pages, setShare, signal);
      const count = found.rows.length;
      const facts = [title, ...(await filterFacts(filters, values)), t('export.zone', { zone })];
      const said =
        count < found.total
          ? t('export.cut', { n: number(MAX_ROWS), total: number(found.total) })
          : t('export.rows', { count, n: number(count) });
      const file = csvOfRows(columns, found.rows, zone, [...facts, said], csvChoice());
      saveFile(new Blob([file], { type: 'text/csv;charset=utf-8' }), `${fileNameOf(title)}.csv`);
      return said;
    },
    onSuccess: say,
    onError: (error) => reading.current?.signal.aborted || sayFailure(error),
  });
  if (save.isPending) {
    const done = new Intl.NumberFormat(i18n.language, { style: 'percent' }).format(share);
    return (
      <Button icon="close" aria-label={t('export.stop')} onClick={() => reading.current?.abort()}>
        <span className="figures">{done}</span>
      </Button>
    );
  }
  return (
    <Button
      icon="download"
      disabled={!pages.total}
      aria-label={t('export.save', { title })}
      title={t('export.save', { title })}
      onClick={() => save.mutate()}
    >
      CSV
    </Button>
  );
}
