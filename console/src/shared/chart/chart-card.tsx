import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { type Cell, type ChartColumn, fileNameOf, type ChartTable as Table } from '../csv/csv.ts';
import { useNotices } from '../notices/notices.tsx';
import { saveFile } from '../service/files.ts';
import { type CardFacts, CardFrame } from './card-frame.tsx';
import { Chart } from './chart.tsx';
import type { ChartOption, ECharts } from './echarts.ts';
import { type Look, readLook } from './look.ts';
import { useCellText } from './use-cell-text.ts';
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
  const saveImage = async () => {
    if (!chart.current) return;
    const image = await imageOf(chart.current, title, [subject, `${zone.text} · ${counted}`]);
    saveFile(image, `${fileNameOf(title, subject)}.png`);
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
        aria-label={t('saveImage', { title })}
        title={t('saveImage', { title })}
        onClick={() => void saveImage().catch(sayFailure)}
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

/** Rows shown at first, and rows added by each click on the button below. The file always has all of them. */
const FIRST = 200;
const MORE = 1_000;

const isFigure = ({ kind }: ChartColumn): boolean => kind === 'number' || kind === 'share';

/** The figures of a chart as a table, for users who cannot see the chart or prefer the figures. */
function ChartTable({ label, table }: { readonly label: string; readonly table: Table }) {
  const { t } = useTranslation('chart');
  const textOf = useCellText();
  const [shown, setShown] = useState(FIRST);
  const { columns, rows } = table;
  const rest = rows.length - shown;
  const cell = (value: Cell, column: ChartColumn | undefined) => column && textOf(value, column);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a named section would be a second landmark
    <div
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
      tabIndex={0}
      className="max-h-96 overflow-auto rounded border"
    >
      <table className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{label}</caption>
        <thead className="sticky top-0 bg-surface">
          <tr>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={classes(
                  'border-b px-2 py-1.5 text-sm font-medium whitespace-nowrap text-muted',
                  isFigure(column) ? 'text-end' : 'text-start',
                )}
              >
                <bdi>{column.header}</bdi>
                {column.unit && <span className="font-normal"> ({column.unit})</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a chart are not reordered
            <tr key={at} className="hover:bg-hover">
              <th scope="row" className="border-b px-2 py-1 text-start font-normal whitespace-nowrap">
                <bdi className="figures line-clamp-1 max-w-72">{cell(row[0] ?? null, columns[0])}</bdi>
              </th>
              {row.slice(1).map((value, next) => {
                const column = columns[next + 1];
                return (
                  <td
                    key={column?.header ?? next}
                    className={classes(
                      'border-b px-2 py-1 whitespace-nowrap',
                      column && isFigure(column) && 'figures text-end',
                    )}
                  >
                    <bdi>{cell(value, column)}</bdi>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <Button kind="quiet" className="m-1" onClick={() => setShown(shown + MORE)}>
          {t('moreRows', { count: rest })}
        </Button>
      )}
    </div>
  );
}

/** Pixels of the image per CSS pixel, so that it is sharp when printed. */
const SCALE = 2;
const MARGIN = 16;
const TITLE = 16;
const LINE = 18;

/** The chart as a PNG in the colours of the page, with its title and notes above it. */
async function imageOf(chart: ECharts, title: string, notes: readonly string[]): Promise<Blob> {
  const look = readLook();
  const head = MARGIN + TITLE + notes.length * LINE + MARGIN / 2;
  const drawn = chart.renderToCanvas({ pixelRatio: SCALE, backgroundColor: look.surface });
  const canvas = document.createElement('canvas');
  canvas.width = drawn.width + 2 * MARGIN * SCALE;
  canvas.height = drawn.height + (head + MARGIN) * SCALE;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser cannot draw');
  context.fillStyle = look.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(drawn, MARGIN * SCALE, head * SCALE);
  context.scale(SCALE, SCALE);
  const isRtl = document.documentElement.dir === 'rtl';
  const width = canvas.width / SCALE - 2 * MARGIN;
  const at = isRtl ? MARGIN + width : MARGIN;
  context.direction = isRtl ? 'rtl' : 'ltr';
  context.textAlign = 'start';
  context.fillStyle = look.text;
  context.font = `600 ${TITLE}px ${look.font}`;
  context.fillText(title, at, MARGIN + TITLE - 2, width);
  context.fillStyle = look.muted;
  context.font = `13px ${look.font}`;
  for (const [line, note] of notes.entries())
    context.fillText(note, at, MARGIN + TITLE + (line + 1) * LINE, width);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('This browser cannot make a PNG'))));
  });
}
