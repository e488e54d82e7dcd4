import type { LookUpReason } from '@gantry/contract/events';
import type { HoldDetail } from '@gantry/contract/storage';
import { MAX_HELD_EVENTS } from '@gantry/contract/values';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PlatePurposeFields, readPlateReason } from '../../../shared/service/plates.tsx';
import { api } from '../../../shared/service/service.ts';
import { useTimeSettings } from '../../../shared/time/zone.ts';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { refreshStorage } from '../storage/refresh.ts';

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
  const [plate, setPlate] = useState('');
  const form = useForm({
    keep: 'new hold',
    read: (entered) => ({
      reason: entered.text('reason'),
      ids: idsOf(entered.text('eventIds')),
      startDate: entered.text('startDate'),
      endDate: entered.text('endDate'),
      licensePlateNumber: entered.text('licensePlateNumber'),
      why: readPlateReason(entered),
    }),
    save: async ({ reason, why, ids, ...range }) => {
      if (by === 'ids') return api.storage.setHold.mutate({ eventIds: ids, reason });
      const { eventIds, total } = await findEventIds({ ...range, why });
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
            onChange={(event) => setPlate(event.target.value.trim())}
          />
          {plate !== '' && <PlatePurposeFields errorOf={form.errorOf} />}
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

const TAKE = 100;
/** Maximum length of the reason of a search, in characters. */
const REASON_MAX = 500;

interface Range {
  readonly startDate: string;
  readonly endDate: string;
  /** Empty: all plates. */
  readonly licensePlateNumber: string;
  /** Why it is searched for. This is sent only with a plate, because searches for plates are recorded. */
  readonly why: LookUpReason;
}

/** The ids of the events of a range, including archived ones. No ids if there are more than `MAX_HELD_EVENTS`. */
async function findEventIds({ licensePlateNumber, why, ...range }: Range) {
  const eventIds = new Set<string>();
  let total = 0;
  // Oldest first: with the newest first, events that arrive in the meantime would shift the pages.
  const input = {
    ...range,
    ...(licensePlateNumber && {
      licensePlateNumber,
      ...why,
      reason: why.reason?.slice(0, REASON_MAX),
    }),
    sortOrder: 'asc' as const,
  };
  for (let skip = 0; ; skip += TAKE) {
    const page = await api.events.getAll.query({ ...input, skip, take: TAKE });
    total = page.total;
    if (total > MAX_HELD_EVENTS) return { eventIds: [], total };
    for (const { id } of page.events) eventIds.add(id);
    if (skip + TAKE >= total) return { eventIds: [...eventIds], total };
  }
}

/** The ids in a pasted text: ids or URLs of events, separated by blanks, commas, semicolons or line breaks. */
function idsOf(text: string): string[] {
  const ids = text
    .split(/[\s,;]+/)
    .map((part) => /[?&]event=([^&]+)/.exec(part)?.[1] ?? part)
    .filter((part) => part !== '');
  return [...new Set(ids)];
}
