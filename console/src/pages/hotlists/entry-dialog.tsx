import type { HotlistEntry } from '@gantry/contract/hotlists';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { ConfirmDialog, FormDialog } from '../../shared/form/form-dialog.tsx';
import { changesOf } from '../../shared/form/seen.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { createTimeFormat } from '../../shared/time/format.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';

function read(entered: Entered) {
  return {
    plate: entered.text('plate'),
    region: entered.textOrNull('region'),
    reason: entered.text('reason'),
    reference: entered.textOrNull('reference'),
    validFrom: entered.textOrNull('validFrom'),
    validUntil: entered.textOrNull('validUntil'),
    approvedBy: entered.textOrNull('approvedBy'),
    reviewOn: entered.textOrNull('reviewOn'),
  };
}

interface EntryDialogProps {
  readonly hotlistId: string;
  /** The entry to change; null for a new one. */
  readonly entry: HotlistEntry | null;
  readonly onClose: () => void;
}

/** Adds a plate to a list, changes its entry, or takes it off the list. */
export function EntryDialog({ hotlistId, entry, onClose }: EntryDialogProps) {
  const { t } = useTranslation('hotlists');
  const client = useQueryClient();
  const { say } = useNotices();
  const [isEnding, setEnding] = useState(false);
  const before = useFactsBefore(entry);
  const done = (text: string) => {
    say(text);
    onClose();
    return client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
  };
  const form = useForm({
    keep: entry ? `entry ${entry.id}` : `new entry of hotlist ${hotlistId}`,
    read,
    save: (input) =>
      entry
        ? api.hotlists.updateEntry.mutate({ id: entry.id, hotlistId, ...changesOf(before, input) })
        : api.hotlists.addEntry.mutate({ hotlistId, ...input }),
    onSuccess: ({ plate, warnings }) =>
      done([t(entry ? 'entry.changed' : 'entry.added', { plate }), ...warnings].join('. ')),
  });
  if (entry && isEnding) {
    return (
      <ConfirmDialog
        title={`${t('end')}: ${entry.plate}`}
        action={t('end')}
        run={() => api.hotlists.endEntry.mutate({ id: entry.id, hotlistId })}
        onDone={() => done(t('entry.ended', { plate: entry.plate }))}
        onClose={() => setEnding(false)}
      >
        <p>{t('entry.endText')}</p>
      </ConfirmDialog>
    );
  }
  return (
    <FormDialog
      title={entry?.plate ?? t('add')}
      form={form}
      onClose={onClose}
      action={entry ? undefined : t('add')}
      width="wide"
    >
      <EntryFields before={before} errorOf={form.errorOf} />
      {entry && (
        <Button kind="danger" icon="delete" className="self-start" onClick={() => setEnding(true)}>
          {t('end')}
        </Button>
      )}
    </FormDialog>
  );
}

type Facts = ReturnType<typeof read>;

/** The values of the fields when the form was opened: days in the time zone of the service, the last one included. */
function useFactsBefore(entry: HotlistEntry | null): Facts {
  const settings = useTimeSettings();
  const dayOf = (moment: Date | null) =>
    moment && createTimeFormat(settings.timezone, 'en', settings).isoDay(moment);
  const [before] = useState<Facts>({
    plate: entry?.plate ?? '',
    region: entry?.region ?? null,
    reason: entry?.reason ?? '',
    reference: entry?.reference ?? null,
    validFrom: dayOf(entry?.validFrom ?? null),
    validUntil: dayOf(entry?.validUntil ?? null),
    approvedBy: entry?.approvedBy ?? null,
    reviewOn: entry?.reviewOn ?? null,
  });
  return before;
}

interface EntryFieldsProps {
  readonly before: Facts;
  readonly errorOf: (path: string) => string | undefined;
}

function EntryFields({ before, errorOf }: EntryFieldsProps) {
  const { t } = useTranslation('hotlists');
  const common = (name: keyof Facts) => ({
    label: t(`fields.${name}`),
    name,
    defaultValue: before[name] ?? '',
    error: errorOf(name),
  });
  return (
    <fieldset className="grid items-start gap-3 sm:grid-cols-2">
      <legend className="sr-only">{t('fields.entry')}</legend>
      <Field {...common('plate')} hint={t('entry.plateHint')} maxLength={50} required autoFocus />
      <Field {...common('region')} hint={t('entry.regionHint')} maxLength={10} />
      <Field {...common('reason')} className="sm:col-span-2" maxLength={500} required />
      <Field {...common('reference')} maxLength={200} />
      <Field {...common('approvedBy')} maxLength={200} />
      <FormDateField {...common('validFrom')} />
      <FormDateField {...common('validUntil')} hint={t('entry.untilHint')} />
      <FormDateField {...common('reviewOn')} />
    </fieldset>
  );
}
