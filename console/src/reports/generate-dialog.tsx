import type { GenerateReportInput } from '@gantry/contract/reports';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form.ts';
import { rangeOfPreset } from '../range/days.ts';
import { RangePicker } from '../range/range-picker.tsx';
import { Failure } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { useServiceTime } from '../time/use-time.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { useNotices } from '../undo/undo.tsx';
import { type Content, ContentFields } from './content-fields.tsx';
import { setFilters } from './report-filters.ts';

/** Asks for a report: of what, of which days, in which form. */
export function GenerateDialog({ today, onClose }: { readonly today: string; readonly onClose: () => void }) {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { say } = useNotices();
  const { zone } = useServiceTime();
  const client = useQueryClient();
  const [content, setContent] = useState<Content>({ kind: 'VIOLATIONS', format: 'PDF', filters: {} });
  const [range, setRange] = useState(() => rangeOfPreset('last7', today));
  const form = useForm({
    read: (entered): GenerateReportInput => ({
      kind: content.kind,
      format: content.format,
      ...range,
      filters: setFilters(content.filters),
      reason: entered.text('reason') || undefined,
    }),
    save: (input) => api.reports.generate.mutate(input),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.reports.getReports.pathKey() });
      say(t('generate.done'));
      onClose();
    },
  });
  return (
    <Dialog title={t('generate.title')} open onClose={onClose} width="wide">
      <form onSubmit={form.submit} className="flex flex-col gap-3">
        <ContentFields content={content} onChange={setContent} errorOf={form.errorOf} />
        <RangePicker range={range} today={today} onChange={setRange} label={t('generate.days')} />
        <p className="text-sm text-muted">
          {t('generate.zone')} <bdi>{zone}</bdi>
        </p>
        {Boolean(content.filters.licensePlateNumber) && (
          <Field
            label={t('generate.reason')}
            name="reason"
            hint={t('generate.reasonHint')}
            error={form.errorOf('reason')}
            maxLength={500}
          />
        )}
        {form.failure && <Failure error={form.failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{common('dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {t('generate.generate')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
