import { type ReactNode, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveFile } from '../service/files.ts';
import { Button } from '../ui/button.tsx';
import { useNotices } from '../undo/undo.tsx';
import { Chart } from './chart.tsx';
import { ChartTable } from './chart-table.tsx';
import { csvOf } from './csv.ts';
import type { ChartOption, ECharts } from './echarts.ts';
import { fileNameOf } from './file-name.ts';
import type { Look } from './look.ts';
import { pictureOf } from './picture.ts';
import type { ChartTable as Table } from './table.ts';
import { useZoneNote } from './use-zone-note.ts';

interface ChartCardProps {
  readonly title: string;
  /** Of what the figures are: the place and the days. */
  readonly subject: string;
  /** How many things the figures are made of, as a text such as `1,381 vehicles`. */
  readonly n: string;
  /** The range of the figures. */
  readonly from: Date;
  readonly until: Date;
  readonly table: Table;
  readonly draw: (look: Look) => ChartOption;
  /** What is to be known to read the chart. */
  readonly children?: ReactNode;
  /** Height of the chart, as a class. */
  readonly height?: string;
}

/** A chart with its title, its zone, and of how many things it is; as a table instead; and both as files. */
export function ChartCard(props: ChartCardProps) {
  const { title, subject, n, from, until, table, draw, children, height } = props;
  const { t } = useTranslation('chart');
  const { sayFailure } = useNotices();
  const headline = useId();
  const chart = useRef<ECharts | null>(null);
  const [isTable, setIsTable] = useState(false);
  const zone = useZoneNote(from, until);
  const counted = t('n', { n });
  const name = fileNameOf(title, subject);
  const savePicture = async () => {
    if (!chart.current) return;
    saveFile(await pictureOf(chart.current, title, [subject, `${zone.text} · ${counted}`]), `${name}.png`);
  };
  const saveCsv = () => {
    const facts = [title, subject, t('zoneFact', { zone: zone.text }), counted];
    saveFile(new Blob([csvOf(table, zone.zone, facts)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`);
  };
  return (
    <section
      aria-labelledby={headline}
      className="flex min-w-0 flex-col gap-2 rounded-md border bg-raised p-3"
    >
      <header className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div className="min-w-0 grow basis-48">
          <h2 id={headline} className="text-lg font-semibold wrap-anywhere">
            {title}
          </h2>
          <p className="figures text-sm text-muted">
            <bdi dir="ltr">{zone.text}</bdi> · <bdi>{counted}</bdi>
          </p>
        </div>
        <div className="flex items-center gap-1">
          <Button
            kind="quiet"
            icon={isTable ? 'chart' : 'table'}
            aria-label={t(isTable ? 'showChart' : 'showTable', { title })}
            title={t(isTable ? 'showChart' : 'showTable', { title })}
            onClick={() => setIsTable(!isTable)}
          >
            {isTable ? t('chart') : t('table')}
          </Button>
          <Button
            kind="quiet"
            icon="download"
            disabled={isTable}
            aria-label={t('savePicture', { title })}
            title={t('savePicture', { title })}
            onClick={() => void savePicture().catch(sayFailure)}
          >
            PNG
          </Button>
          <Button
            kind="quiet"
            icon="download"
            aria-label={t('saveCsv', { title })}
            title={t('saveCsv', { title })}
            onClick={saveCsv}
          >
            CSV
          </Button>
        </div>
      </header>
      {zone.isNotUtc && <p className="text-sm text-muted">{t('notUtc', { zone: zone.zone })}</p>}
      {isTable ? (
        <ChartTable label={`${title}, ${subject}`} table={table} />
      ) : (
        <Chart
          label={`${title}, ${subject}. ${counted}`}
          draw={draw}
          handle={chart}
          {...(height && { className: height })}
        />
      )}
      {children}
    </section>
  );
}
