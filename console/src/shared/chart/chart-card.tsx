import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { fileNameOf } from '../csv/file-name.ts';
import { useNotices } from '../notices/notices.tsx';
import { saveFile } from '../service/files.ts';
import { type CardFacts, CardFrame } from './card-frame.tsx';
import { Chart } from './chart.tsx';
import { ChartTable } from './chart-table.tsx';
import type { ChartOption, ECharts } from './echarts.ts';
import type { Look } from './look.ts';
import { pictureOf } from './picture.ts';
import { useZoneNote } from './use-zone-note.ts';

interface ChartCardProps extends CardFacts {
  /** The range of the figures; `until` is exclusive. */
  readonly from: Date;
  readonly until: Date;
  readonly draw: (look: Look) => ChartOption;
  /** Notes on how to read the chart, below it. */
  readonly children?: ReactNode;
  /** Height of the chart, as a class. */
  readonly height?: string;
}

/** A chart with its title, time zone and sample size. It can be shown as a table, and downloaded as PNG or CSV. */
export function ChartCard(props: ChartCardProps) {
  const { title, subject, n, from, until, table, draw, children, height } = props;
  const { t } = useTranslation('chart');
  const { sayFailure } = useNotices();
  const chart = useRef<ECharts | null>(null);
  const [isTable, setIsTable] = useState(false);
  const zone = useZoneNote(from, until);
  const counted = t('n', { n });
  const savePicture = async () => {
    if (!chart.current) return;
    const picture = await pictureOf(chart.current, title, [subject, `${zone.text} · ${counted}`]);
    saveFile(picture, `${fileNameOf(title, subject)}.png`);
  };
  const commands = (
    <>
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
    </>
  );
  return (
    <CardFrame {...{ title, subject, n, table, zone, commands }}>
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
    </CardFrame>
  );
}
