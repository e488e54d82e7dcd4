import type { LookUpReason } from '@gantry/contract/events';
import type { Report, ReportFormat } from '@gantry/contract/reports';
import { reportFormats } from '@gantry/contract/values';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Chip } from '../../../shared/filters/chip.tsx';
import type { Filter } from '../../../shared/filters/filter.ts';
import { Failure } from '../../../shared/service/failure.tsx';
import { addressOf, fetchFile, saveFile } from '../../../shared/service/files.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Fact, Facts } from '../detail/section.tsx';
import type { EventFilters } from '../search.ts';

interface ExportDialogProps {
  readonly input: EventFilters;
  readonly why: LookUpReason;
  readonly filters: readonly Filter[];
  readonly onClose: () => void;
}

/** Shows exactly what will be exported, generates the file and downloads it. */
export function ExportDialog({ input, why, filters, onClose }: ExportDialogProps) {
  const { t, i18n } = useTranslation('events');
  const [format, setFormat] = useState<ReportFormat>('CSV');
  const scope = useExportScope({ input, why });
  const { generate, report, save, done, reset, leave } = useExport({ input, why });
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

/** The range and number of events to export, determined when the dialog was opened. */
interface ExportScope {
  readonly startDate: string;
  readonly endDate: string;
  readonly total: number;
}

interface ExportOptions {
  readonly input: EventFilters;
  readonly why: LookUpReason;
}

const POLL_MS = 700;

/**
 * Loads the range and the number of rows of an export. A report needs a range: by default, it is from the oldest
 * matching event until the time at which the dialog was opened.
 */
function useExportScope({ input, why }: ExportOptions) {
  const { sortBy: _by, sortOrder: _order, ...filters } = input;
  const [openedAt] = useState(() => new Date().toISOString());
  const endDate = input.endDate ?? openedAt;
  return useQuery({
    queryKey: [...service.events.getAll.queryKey(input), 'export', openedAt],
    queryFn: async (): Promise<ExportScope> => {
      const question = { ...filters, endDate, ...why, take: 1, sortOrder: 'asc' as const };
      const { events, total } = await api.events.getAll.query(question);
      const startDate = input.startDate ?? events[0]?.timestamp.toISOString() ?? endDate;
      return { startDate, endDate, total };
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
}

/** Generates the report, polls its progress, and saves its file. */
function useExport({ input, why }: ExportOptions) {
  const [id, setId] = useState<string | null>(null);
  const isLeft = useRef(false);
  const generate = useMutation({
    mutationFn: ({ scope, format }: { scope: ExportScope; format: ReportFormat }) => {
      const { startDate: _start, endDate: _end, sortBy: _by, sortOrder: _order, ...filters } = input;
      const { startDate, endDate } = scope;
      return api.reports.generate.mutate({
        kind: 'EVENTS',
        format,
        startDate,
        endDate,
        filters,
        ...why,
      });
    },
    onSuccess: (made) => (isLeft.current ? cancel(made.id) : setId(made.id)),
  });
  const report = useQuery({
    ...service.reports.getById.queryOptions({ id: id ?? '' }),
    enabled: id !== null,
    refetchInterval: ({ state }) => (isUnfinished(state.data) ? POLL_MS : false),
  });
  const save = useMutation({
    mutationFn: async ({ url, fileName }: Report) =>
      saveFile(await fetchFile(addressOf(url ?? '')), fileName ?? 'events'),
  });
  const done = report.data?.status === 'DONE' ? report.data : null;
  const savedId = useRef<string | null>(null);
  const { mutate } = save;
  useEffect(() => {
    if (!done || savedId.current === done.id) return;
    savedId.current = done.id;
    mutate(done);
  }, [done, mutate]);
  /** Clears the result, so that another report can be generated. */
  const reset = () => {
    setId(null);
    generate.reset();
    save.reset();
  };
  /** Cancels an unfinished report, or, if it is still being requested, cancels it once the response arrives. */
  const leave = () => {
    isLeft.current = true;
    if (id !== null && isUnfinished(report.data)) cancel(id);
  };
  return { generate, report, save, done, reset, leave };
}

function cancel(id: string): void {
  // An error is ignored, because the report may have finished in the meantime.
  void api.reports.cancel.mutate({ id }).catch(() => undefined);
}

function isUnfinished(report: Report | undefined): boolean {
  return !report || report.status === 'QUEUED' || report.status === 'RUNNING';
}
