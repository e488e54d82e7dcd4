import type { HoldDetail } from '@gantry/contract/storage';
import { MAX_HELD_EVENTS } from '@gantry/contract/values';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDateField } from '../../../shared/form/form-date-field.tsx';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api } from '../../../shared/service/service.ts';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { refreshStorage } from '../storage/refresh.ts';
import { findEventIds, idsOf } from './find-events.ts';

interface HoldDialogProps {
  readonly onClose: () => void;
  readonly onSet: (hold: HoldDetail) => void;
}

/** A dialog that puts events under a legal hold: those of a time range, or single events by id. */
export function HoldDialog({ onClose, onSet }: HoldDialogProps) {
  const { t, i18n } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  const { timezone } = useTimeSettings();
  const [by, setBy] = useState<'range' | 'ids'>('range');
  const form = useForm({
    keep: 'new hold',
    read: (entered) => ({
      reason: entered.text('reason'),
      ids: idsOf(entered.text('eventIds')),
      startDate: entered.text('startDate'),
      endDate: entered.text('endDate'),
      licensePlateNumber: entered.text('licensePlateNumber'),
    }),
    save: async ({ reason, ids, ...range }) => {
      if (by === 'ids') return api.storage.setHold.mutate({ eventIds: ids, reason });
      const { eventIds, total } = await findEventIds({ ...range, reason });
      if (total === 0) throw new Error(t('holds.rangeEmpty'));
      if (total > MAX_HELD_EVENTS)
        throw new Error(
          t('holds.rangeLarge', {
            count: total,
            n: total.toLocaleString(i18n.language),
            most: MAX_HELD_EVENTS.toLocaleString(i18n.language),
          }),
        );
      return api.storage.setHold.mutate({ eventIds, reason });
    },
    onSuccess: (hold) => {
      void refreshStorage();
      const n = hold.eventCount.toLocaleString(i18n.language);
      say(t('holds.wasSet', { count: hold.eventCount, n }));
      onSet(hold);
    },
  });
  return (
    <FormDialog title={t('holds.set')} form={form} onClose={onClose} action={t('holds.set')}>
      <p className="text-muted">{t('holds.setText')}</p>
      <Field
        label={t('holds.reason')}
        hint={t('holds.reasonHint')}
        name="reason"
        lines={2}
        error={form.errorOf('reason')}
        required
        autoFocus
      />
      <Select
        label={t('holds.which')}
        name="which"
        value={by}
        options={[
          { value: 'range', label: t('holds.ofRange') },
          { value: 'ids', label: t('holds.ofIds') },
        ]}
        onChange={setBy}
      />
      {by === 'range' ? (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <FormDateField
              label={t('activity.from')}
              name="startDate"
              withTime
              error={form.errorOf('startDate')}
              required
            />
            <FormDateField
              label={t('activity.until')}
              hint={t('holds.zone', { zone: timezone })}
              name="endDate"
              withTime
              isEnd
              error={form.errorOf('endDate')}
              required
            />
          </div>
          <Field
            label={t('webhooks.licensePlateNumber')}
            hint={t('webhooks.plateHint')}
            name="licensePlateNumber"
            error={form.errorOf('licensePlateNumber')}
          />
        </>
      ) : (
        <Field
          label={t('holds.ids')}
          hint={t('holds.idsHint')}
          name="eventIds"
          lines={4}
          error={form.errorOf('eventIds')}
          required
        />
      )}
    </FormDialog>
  );
}
