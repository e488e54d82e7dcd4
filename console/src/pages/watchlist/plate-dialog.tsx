import { severities } from '@gantry/contract/values';
import type { WatchlistEntry, WatchlistEntryDetail } from '@gantry/contract/watchlist';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Faster, isConflict, useFasterText } from '../../shared/conflict/faster.tsx';
import { FormDateField } from '../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { changesOf } from '../../shared/form/seen.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { createTimeFormat } from '../../shared/time/format.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

interface PlateDialogProps {
  /** The entry to edit; null for a new one. */
  readonly entry: WatchlistEntry | null;
  readonly onClose: () => void;
}

/** The values of the form. Days are in the time zone of the service; the last one is included. */
interface PlateFacts {
  readonly pattern: string;
  readonly reason: string;
  readonly priority: WatchlistEntry['priority'];
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly fuzzy: boolean;
}

function readPlate(entered: Entered): PlateFacts {
  return {
    pattern: entered.text('pattern'),
    reason: entered.text('reason'),
    priority: entered.text('priority') as PlateFacts['priority'],
    validFrom: entered.textOrNull('validFrom'),
    validUntil: entered.textOrNull('validUntil'),
    fuzzy: entered.checked('fuzzy'),
  };
}

/** The form that adds a plate to the watchlist, edits an entry, or deletes it. */
export function PlateDialog({ entry, onClose }: PlateDialogProps) {
  const { t } = useTranslation(['watchlist', 'common']);
  const mayManage = useMay('manageWatchlist');
  const { say } = useNotices();
  const client = useQueryClient();
  const [deletes, setDeletes] = useState(false);
  const fasterText = useFasterText();
  // The version when the form was opened; the list may be refetched while the form is open.
  const [seen] = useState({ updatedAt: entry?.updatedAt });
  /** The current entry, if another user changed it while the form was open. */
  const [faster, setFaster] = useState<WatchlistEntryDetail | null>(null);
  const before = useFactsBefore(entry);
  const refresh = () => client.invalidateQueries({ queryKey: service.watchlist.getAll.pathKey() });
  const form = useForm({
    keep: entry ? `watched plate ${entry.id}` : 'new watched plate',
    read: readPlate,
    save: async (after) => {
      if (!entry) return api.watchlist.create.mutate(after);
      const { id } = entry;
      const expectedUpdatedAt = faster?.updatedAt ?? seen.updatedAt;
      try {
        return await api.watchlist.update.mutate({ id, ...changesOf(before, after), expectedUpdatedAt });
      } catch (error) {
        if (isConflict(error)) setFaster(await api.watchlist.getById.query({ id }));
        throw error;
      }
    },
    onSuccess: ({ pattern }) => {
      say(entry ? t('plates.changed', { pattern }) : t('plates.added', { pattern }));
      void refresh();
      onClose();
    },
  });
  if (deletes && entry) {
    return (
      <ConfirmDialog
        title={t('plates.deleteTitle', { pattern: entry.pattern })}
        action={t('common:dialog.delete')}
        run={() => api.watchlist.delete.mutate({ id: entry.id })}
        onDone={() => {
          say(t('plates.deleted', { pattern: entry.pattern }));
          void refresh();
          onClose();
        }}
        onClose={() => setDeletes(false)}
      >
        <p>{t('plates.deleteText')}</p>
      </ConfirmDialog>
    );
  }
  return (
    <Dialog title={entry ? entry.pattern : t('plates.new')} open onClose={onClose} width="wide">
      <form ref={form.ref} onSubmit={form.submit}>
        <PlateFields isDisabled={!mayManage} isNew={!entry} before={before} errorOf={form.errorOf} />
        {form.failure && !isConflict(form.failure) && <Failure error={form.failure} />}
        {isConflict(form.failure) && (
          <Faster error={form.failure}>
            {faster && (
              <p>{fasterText({ what: 'changed', who: faster.updatedBy?.name, at: faster.updatedAt })}</p>
            )}
          </Faster>
        )}
        <div className="mt-3 flex flex-wrap items-center gap-2">
          {entry && (
            <Link to="/watchlist" search={{ entryId: entry.id }} className="me-auto text-accent underline">
              {t('plates.alerts')}
            </Link>
          )}
          {entry && mayManage && (
            <Button kind="danger" icon="delete" onClick={() => setDeletes(true)}>
              {t('common:dialog.delete')}
            </Button>
          )}
          <Button className="ms-auto" onClick={onClose}>
            {mayManage ? t('common:dialog.cancel') : t('common:dialog.close')}
          </Button>
          {mayManage && (
            <Button kind="primary" type="submit" disabled={form.isSaving}>
              {isConflict(form.failure) ? t('common:faster.saveStill') : t('common:dialog.save')}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** The values of the fields when the form was opened. */
function useFactsBefore(entry: PlateDialogProps['entry']): PlateFacts {
  const settings = useTimeSettings();
  const dayOf = (moment: Date | null) =>
    moment && createTimeFormat(settings.timezone, 'en', settings).isoDay(moment);
  const [before] = useState<PlateFacts>({
    pattern: entry?.pattern ?? '',
    reason: entry?.reason ?? '',
    priority: entry?.priority ?? 'MEDIUM',
    validFrom: dayOf(entry?.validFrom ?? null),
    validUntil: dayOf(entry?.validUntil ?? null),
    fuzzy: entry?.fuzzy ?? false,
  });
  return before;
}

interface PlateFieldsProps {
  readonly isDisabled: boolean;
  readonly isNew: boolean;
  readonly before: PlateFacts;
  readonly errorOf: (path: string) => string | undefined;
}

function PlateFields({ isDisabled, isNew, before, errorOf }: PlateFieldsProps) {
  const { t } = useTranslation(['watchlist', 'common']);
  const settings = useTimeSettings();
  return (
    <fieldset disabled={isDisabled} className="grid gap-3 sm:grid-cols-2">
      <Field
        label={t('fields.pattern')}
        name="pattern"
        defaultValue={before.pattern}
        hint={t('plates.patternHint')}
        error={errorOf('pattern')}
        maxLength={50}
        autoFocus={isNew}
        required
      />
      <ChoiceField
        label={t('fields.priority')}
        name="priority"
        defaultValue={before.priority}
        options={severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))}
      />
      <Field
        className="sm:col-span-2"
        label={t('fields.reason')}
        name="reason"
        defaultValue={before.reason}
        hint={t('plates.reasonHint')}
        error={errorOf('reason')}
        maxLength={500}
        required
      />
      <FormDateField
        label={t('fields.validFrom')}
        name="validFrom"
        defaultValue={before.validFrom ?? ''}
        hint={t('plates.zone', { zone: settings.timezone })}
        error={errorOf('validFrom')}
      />
      <FormDateField
        label={t('fields.validUntil')}
        name="validUntil"
        defaultValue={before.validUntil ?? ''}
        hint={t('plates.untilHint')}
        error={errorOf('validUntil')}
      />
      <label className="flex min-h-8 items-start gap-2 sm:col-span-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          name="fuzzy"
          defaultChecked={before.fuzzy}
          className="mt-1 size-4 accent-accent"
        />
        <span>
          {t('plates.fuzzyLabel')}
          <span className="block text-sm text-muted">{t('plates.fuzzyHint')}</span>
        </span>
      </label>
    </fieldset>
  );
}
