import type { Incident } from '@gantry/contract/incidents';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict } from '../../shared/conflict/faster.tsx';
import { sendWithKeys, useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { outbox } from '../../shared/offline/outbox.ts';
import { Sending } from '../../shared/offline/outbox-list.tsx';
import { PhotoPicker } from '../../shared/photos/photo-picker.tsx';
import { useKeptPhotos, usePhotos } from '../../shared/photos/use-photos.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api } from '../../shared/service/service.ts';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import type { Move } from './allowed.ts';
import { Conflict } from './conflict.tsx';
import { useRefreshIncidents } from './use-actions.ts';

export interface NoteDialogProps {
  /** The incident as the user saw it. */
  readonly incident: Incident;
  readonly action: Move | 'addNote' | 'rejectFalse';
  readonly onClose: () => void;
}

/** A form to add a note, or for the note of a change of state, which reopening and rejecting require. */
export function NoteDialog({ incident, action, onClose }: NoteDialogProps) {
  const { t } = useTranslation(['incidents', 'common', 'mine']);
  const titleOf = useIncidentTitle();
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  // Set after a conflict if the user chooses to save the text as a note instead.
  const asNote = useRef(false);
  const done = () => (asNote.current ? 'addNote' : action);
  const about = `${action} ${incident.id}`;
  const photos = usePhotos();
  useKeptPhotos(about, photos);
  const element = useRef<HTMLFormElement>(null);
  const asksReason = action === 'reopen' || action === 'rejectFalse';
  const field = action === 'rejectFalse' ? 'reason' : 'note';
  const form = useForm({
    keep: about,
    read: (entered) => ({ id: incident.id, note: entered.text(field) }),
    save: async (input) => {
      const step = done();
      const call =
        step === 'addNote'
          ? outbox.deliver({
              kind: 'note',
              incidentId: input.id,
              title: titleOf(incident),
              note: input.note,
              images: photos.list.map(({ file }) => file),
            })
          : step === 'rejectFalse'
            ? api.incidents.rejectFalse.mutate({ id: input.id, reason: input.note })
            : api.incidents[step].mutate(input);
      return await call.finally(() => void refresh());
    },
    onSuccess: (outcome) => {
      say(outcome === 'waits' ? t('mine:said.waits') : t(`said.${done()}`));
      onClose();
    },
  });
  const { failure } = form;
  const isLate = isConflict(failure);
  const isNeeded = isLate || asksReason || action === 'addNote';
  return (
    <Dialog title={t(`actions.${action}`)} open onClose={onClose}>
      <bdi className="line-clamp-2 text-muted">{titleOf(incident)}</bdi>
      <form ref={element} onSubmit={form.submit} onKeyDown={sendWithKeys} className="flex flex-col gap-3">
        <Field
          label={asksReason ? t('note.reason') : isNeeded ? t('note.note') : t('note.optional')}
          name={field}
          lines={4}
          maxLength={2000}
          required={isNeeded && photos.list.length === 0}
          hint={t('note.send')}
          error={form.errorOf(field)}
          autoFocus
        />
        {action === 'addNote' && <PhotoPicker photos={photos} isDisabled={form.isSaving} />}
        <Sending isSaving={form.isSaving} images={photos.list.length} />
        {isLate && <Conflict error={failure} incidentId={incident.id} seenAt={incident.updatedAt} />}
        {failure && !isLate && <Failure error={failure} onRetry={() => element.current?.requestSubmit()} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          {isLate ? (
            <Button
              kind="primary"
              disabled={form.isSaving}
              onClick={({ currentTarget }) => {
                asNote.current = true;
                currentTarget.form?.requestSubmit();
              }}
            >
              {t('note.keep')}
            </Button>
          ) : (
            <Button kind="primary" type="submit" disabled={form.isSaving || photos.isPreparing}>
              {t(`actions.${action}`)}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
