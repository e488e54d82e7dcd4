import type { Report, ReportFormat } from '@gantry/contract/reports';
import { reportFormats } from '@gantry/contract/values';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Chip } from '../../../shared/filters/chip.tsx';
import type { Filter } from '../../../shared/filters/filter.ts';
import { Failure } from '../../../shared/service/failure.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Fact, Facts } from '../detail/section.tsx';
import type { EventFilters } from '../search.ts';
import { type ExportScope, useExport, useExportScope } from './use-export.ts';

interface ExportDialogProps {
  readonly input: EventFilters;
  readonly reason: string | undefined;
  readonly filters: readonly Filter[];
  readonly onClose: () => void;
}

/** Shows exactly what will be exported, generates the file and downloads it. */
export function ExportDialog({ input, reason, filters, onClose }: ExportDialogProps) {
  const { t, i18n } = useTranslation('events');
  const [format, setFormat] = useState<ReportFormat>('CSV');
  const scope = useExportScope({ input, reason });
  const { generate, report, save, done, reset, leave } = useExport({ input, reason });
  const failed = report.data?.status === 'FAILED' ? new Error(report.data.error ?? '') : null;
  const error = scope.error ?? generate.error ?? report.error ?? save.error ?? failed;
  const isUnderWay = generate.isPending || (generate.isSuccess && !done && !failed && !report.error);
  const close = () => {
    leave();
    onClose();
  };
  return (
    <Dialog title={t('export.title')} open onClose={close}>
      {scope.isPending && <Skeleton rows={4} />}
      {scope.data && <Scope scope={scope.data} input={input} filters={filters} />}
      <Select
        label={t('export.format')}
        value={format}
        options={reportFormats.map((value) => ({ value, label: t(`export.formats.${value}`) }))}
        onChange={(chosen) => {
          setFormat(chosen);
          reset();
        }}
        disabled={isUnderWay}
      />
      {isUnderWay && <Progress report={report.data} />}
      {done && (
        <p role="status">
          {t('export.done', {
            name: done.fileName ?? '',
            count: done.rowCount,
            n: done.rowCount.toLocaleString(i18n.language),
          })}
        </p>
      )}
      {error && <Failure error={error} />}
      {done ? (
        <Button icon="download" onClick={() => save.mutate(done)}>
          {t('export.again')}
        </Button>
      ) : (
        <Button
          kind="primary"
          icon="download"
          disabled={!scope.data || isUnderWay}
          onClick={() => scope.data && generate.mutate({ scope: scope.data, format })}
        >
          {t('export.start')}
        </Button>
      )}
    </Dialog>
  );
}

function Progress({ report }: { readonly report: Report | undefined }) {
  const { t } = useTranslation('events');
  const rows = report?.rowCount ?? 0;
  return (
    <div className="flex flex-col gap-1">
      <progress
        className="w-full accent-accent"
        value={report?.progress ?? 0}
        max={1}
        aria-label={t('export.title')}
      />
      <p role="status" className="figures text-sm text-muted">
        {t('export.rows', { count: rows })}
      </p>
    </div>
  );
}

function Scope({
  scope,
  input,
  filters,
}: { readonly scope: ExportScope } & Pick<ExportDialogProps, 'input' | 'filters'>) {
  const { t } = useTranslation('events');
  const { timezone } = useTimeSettings();
  const { total, startDate, endDate } = scope;
  const values = input as Readonly<Record<string, unknown>>;
  const set = filters.filter(({ name, kind }) => kind !== 'moment' && values[name] !== undefined);
  return (
    <>
      <p className="font-medium">{t('export.exports', { count: total })}</p>
      <Facts>
        <Fact name={t('export.filter')}>
          {set.length === 0 ? (
            t('export.noFilter')
          ) : (
            <span className="flex flex-wrap gap-1">
              {set.map((filter) => (
                <Chip key={filter.name} filter={filter} value={values[filter.name]} />
              ))}
            </span>
          )}
        </Fact>
        <Fact name={t('filters.from')}>
          <Bound at={startDate} />
        </Fact>
        <Fact name={t('filters.until')}>
          <Bound at={endDate} />
        </Fact>
        <Fact name={t('export.zone')}>
          <bdi dir="ltr">{timezone}</bdi>
        </Fact>
      </Facts>
    </>
  );
}

/** One end of the range: a time, or a date as it is in the filter. */
function Bound({ at }: { readonly at: string }) {
  return at.endsWith('Z') ? <Moment at={new Date(at)} /> : <bdi dir="ltr">{at.replace('T', ' ')}</bdi>;
}
