import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { type ChartTable, csvOf, fileNameOf } from '../csv/csv.ts';
import { csvChoice } from '../csv/csv-choice.ts';
import { saveFile } from '../service/files.ts';
import { UnbrokenDays } from '../time/moment.tsx';
import type { ZoneNote } from './use-zone-note.ts';

/** The figures of a card and what describes them. */
export interface CardFacts {
  readonly title: string;
  /** What the figures cover: the place and the days. */
  readonly subject: string;
  /** The size of the sample, as a text such as `1,381 vehicles`. */
  readonly n: string;
  readonly table: ChartTable;
}

interface CardFrameProps extends CardFacts {
  readonly zone: ZoneNote;
  /** Buttons before the CSV button. */
  readonly commands?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a card: its title, time zone, sample size, and a button that downloads the figures as CSV. */
export function CardFrame({ title, subject, n, table, zone, commands, children }: CardFrameProps) {
  const { t } = useTranslation('chart');
  const headline = useId();
  const counted = t('n', { n });
  const save = () => {
    const facts = [title, subject, t('zoneFact', { zone: zone.text }), counted];
    const csv = new Blob([csvOf(table, zone.zone, facts, csvChoice())], { type: 'text/csv;charset=utf-8' });
    saveFile(csv, `${fileNameOf(title, subject)}.csv`);
  };
  return (
    <section
      aria-labelledby={headline}
      className="flex min-w-0 flex-col gap-2 rounded-md border bg-surface p-3"
    >
      <header className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div className="min-w-0 grow basis-48">
          <h2 id={headline} className="text-lg font-semibold wrap-anywhere">
            <UnbrokenDays text={title} />
          </h2>
          <p className="figures text-sm text-muted">
            <bdi dir="ltr">{zone.text}</bdi> · <bdi>{counted}</bdi>
          </p>
        </div>
        <div className="flex items-center gap-1">
          {commands}
          <Button
            kind="quiet"
            icon="download"
            aria-label={t('saveCsv', { title })}
            title={t('saveCsv', { title })}
            onClick={save}
          >
            CSV
          </Button>
        </div>
      </header>
      {children}
    </section>
  );
}
