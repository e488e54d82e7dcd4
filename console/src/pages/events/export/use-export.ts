import type { Report, ReportFormat } from '@gantry/contract/reports';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { addressOf, fetchFile, saveFile } from '../../../shared/service/files.ts';
import { api, service } from '../../../shared/service/service.ts';
import type { EventFilters } from '../search.ts';

/** The range and number of events to export, determined when the dialog was opened. */
export interface ExportScope {
  readonly startDate: string;
  readonly endDate: string;
  readonly total: number;
}

interface ExportOptions {
  readonly input: EventFilters;
  readonly reason: string | undefined;
}

const POLL_MS = 700;

/**
 * Loads the range and the number of rows of an export. A report needs a range: by default, it is from the oldest
 * matching event until the time at which the dialog was opened.
 */
export function useExportScope({ input, reason }: ExportOptions) {
  const { sortBy: _by, sortOrder: _order, ...filters } = input;
  const [openedAt] = useState(() => new Date().toISOString());
  const endDate = input.endDate ?? openedAt;
  return useQuery({
    queryKey: [...service.events.getAll.queryKey(input), 'export', openedAt],
    queryFn: async (): Promise<ExportScope> => {
      const question = { ...filters, endDate, ...(reason && { reason }), take: 1, sortOrder: 'asc' as const };
      const { events, total } = await api.events.getAll.query(question);
      const startDate = input.startDate ?? events[0]?.timestamp.toISOString() ?? endDate;
      return { startDate, endDate, total };
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
}

/** Generates the report, polls its progress, and saves its file. */
export function useExport({ input, reason }: ExportOptions) {
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
        ...(reason && { reason }),
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
