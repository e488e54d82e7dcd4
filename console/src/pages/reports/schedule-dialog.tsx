import type { CreateScheduleInput, ReportSchedule } from '@gantry/contract/reports';
import { dayFieldOf } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { csvChoice } from '../../shared/csv/csv-choice.ts';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { changesOf, useSeen } from '../../shared/form/seen.ts';
import { KeptState } from '../../shared/form/use-kept.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { PlateReasonFields, readPlateReason } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { type Content, ContentFields } from './content-fields.tsx';
import { setFilters } from './report-filters.ts';
import { readSendTo, SendToFields } from './send-to-fields.tsx';
import { type When, WhenFields } from './when-fields.tsx';

interface ScheduleDialogProps {
  /** The schedule to edit; null for a new one. */
  readonly schedule: ReportSchedule | null;
  readonly onClose: () => void;
}

const NEW: When = { every: 'DAILY', hour: 6, weekday: 1, dayOfMonth: 1, enabled: true };

/** Creates or edits a schedule. */
export function ScheduleDialog({ schedule: given, onClose }: ScheduleDialogProps) {
  const { before: schedule, refuseUnseen } = useSeen(given ?? undefined, async () => {
    const { schedules } = await api.reports.getSchedules.query({ take: 100 });
    const now = schedules.find(({ id }) => id === given?.id);
    // If it is not found, the check is skipped: either it was deleted, and the service refuses the change, or it is
    // older than the 100 newest schedules.
    return now ?? (given as ReportSchedule);
  });
  const { t } = useTranslation('reports');
  const { say } = useNotices();
  const { zone } = useServiceTime();
  const mayManage = useMay('manageReports');
  const client = useQueryClient();
  const [content, setContent] = useState<Content>(
    schedule ?? { kind: 'DAILY_SUMMARY', format: 'PDF', filters: {} },
  );
  const [when, setWhen] = useState<When>(
    schedule
      ? {
          ...schedule,
          weekday: schedule.weekday ?? NEW.weekday,
          dayOfMonth: schedule.dayOfMonth ?? NEW.dayOfMonth,
        }
      : NEW,
  );
  const form = useForm({
    keep: given ? `schedule ${given.id}` : 'new schedule',
    read: (entered): CreateScheduleInput => {
      const field = dayFieldOf[when.every];
      return {
        kind: content.kind,
        format: content.format,
        filters: setFilters(content.filters),
        csv: content.format === 'CSV' ? (schedule?.csv ?? csvChoice()) : null,
        every: when.every,
        hour: when.hour,
        weekday: field === 'weekday' ? when.weekday : null,
        dayOfMonth: field === 'dayOfMonth' ? when.dayOfMonth : null,
        enabled: when.enabled,
        sendTo: mayManage ? readSendTo(entered, schedule?.sendTo ?? null) : (schedule?.sendTo ?? null),
        ...readPlateReason(entered),
      };
    },
    save: async ({ reason, purpose, caseNumber, ...fields }) => {
      const why = { reason, purpose, caseNumber };
      if (!schedule) return api.reports.createSchedule.mutate({ ...fields, ...why });
      const changes = changesOf(schedule, fields);
      await refuseUnseen(changes);
      return api.reports.updateSchedule.mutate({ id: schedule.id, ...changes, ...why });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.reports.getSchedules.pathKey() });
      say(t('schedules.saved'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={schedule ? t('schedules.edit') : t('schedules.new')}
      form={form}
      onClose={onClose}
      width="wide"
    >
      <KeptState name="content" value={content} onRestore={setContent} />
      <ContentFields
        content={content}
        onChange={setContent}
        errorOf={form.errorOf}
        isKindFixed={schedule !== undefined}
      />
      {Boolean(content.filters.licensePlateNumber) && <PlateReasonFields errorOf={form.errorOf} />}
      <KeptState name="when" value={when} onRestore={setWhen} />
      <WhenFields when={when} onChange={setWhen} />
      {mayManage && <SendToFields sendTo={schedule?.sendTo ?? null} errorOf={form.errorOf} />}
      <p className="text-sm text-muted">
        {t('schedules.covers')} {t('generate.zone')} <bdi>{zone}</bdi>
      </p>
    </FormDialog>
  );
}
