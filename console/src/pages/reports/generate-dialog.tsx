import type { GenerateReportInput } from '@gantry/contract/reports';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { csvChoice } from '../../shared/csv/csv-choice.ts';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { KeptState } from '../../shared/form/use-kept.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { rangeOfPreset } from '../../shared/range/days.ts';
import { RangePicker } from '../../shared/range/range-picker.tsx';
import { PlateReasonFields, readPlateReason } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { type Content, ContentFields } from './content-fields.tsx';
import { setFilters } from './report-filters.ts';

/** Requests a report: its content, format and range of days. */
export function GenerateDialog({ today, onClose }: { readonly today: string; readonly onClose: () => void }) {
  const { t } = useTranslation('reports');
  const { say } = useNotices();
  const { zone } = useServiceTime();
  const client = useQueryClient();
  const [content, setContent] = useState<Content>({ kind: 'VIOLATIONS', format: 'PDF', filters: {} });
  const [range, setRange] = useState(() => rangeOfPreset('last7', today));
  const form = useForm({
    keep: 'new report',
    read: (entered): GenerateReportInput => ({
      kind: content.kind,
      format: content.format,
      ...range,
      filters: setFilters(content.filters),
      csv: content.format === 'CSV' ? csvChoice() : null,
      ...readPlateReason(entered),
    }),
    save: (input) => api.reports.generate.mutate(input),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.reports.getReports.pathKey() });
      say(t('generate.done'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('generate.title')}
      form={form}
      onClose={onClose}
      action={t('generate.generate')}
      width="wide"
    >
      <KeptState name="content" value={content} onRestore={setContent} />
      <ContentFields content={content} onChange={setContent} errorOf={form.errorOf} />
      <KeptState name="range" value={range} onRestore={setRange} />
      <RangePicker range={range} today={today} onChange={setRange} label={t('generate.days')} />
      <p className="text-sm text-muted">
        {t('generate.zone')} <bdi>{zone}</bdi>
      </p>
      {Boolean(content.filters.licensePlateNumber) && <PlateReasonFields errorOf={form.errorOf} />}
    </FormDialog>
  );
}
