import type { Incident } from '@gantry/contract/incidents';
import { type RefObject, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form.ts';
import { sendWithKeys } from '../form/send-with-keys.ts';
import { Failure } from '../service/failure.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useNotices } from '../undo/undo.tsx';
import { useAllowed } from './allowed.ts';
import { PhotoPicker } from './photos/photo-picker.tsx';
import { usePhotos } from './photos/use-photos.ts';
import { useRefreshIncidents } from './use-actions.ts';

interface NoteComposerProps {
  readonly incident: Incident;
  /** The area that `n` leads to. */
  readonly area: RefObject<HTMLTextAreaElement | null>;
}

/** Adds a note to an incident. What was written, and the pictures, stay until the service has them. */
export function NoteComposer({ incident, area }: NoteComposerProps) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  const element = useRef<HTMLFormElement>(null);
  const photos = usePhotos();
  const form = useForm({
    read: (entered) => ({ id: incident.id, note: entered.text('note') }),
    save: photos.send,
    onSuccess: () => {
      element.current?.reset();
      photos.clear();
      say(t('said.addNote'));
      void refresh();
    },
  });
  const isAllowed = allowed(incident, 'addNote');
  // What was begun stays where the incident is assigned to somebody else meanwhile.
  const isBegun = Boolean(area.current?.value) || photos.list.length > 0 || photos.isPreparing;
  if (!isAllowed && !isBegun) return null;
  return (
    <form
      ref={element}
      onSubmit={form.submit}
      onKeyDown={sendWithKeys}
      className="flex flex-col gap-2 rounded-md border bg-surface p-3 print:hidden"
    >
      <Field
        area={area}
        label={t('note.note')}
        name="note"
        lines={2}
        maxLength={2000}
        error={form.errorOf('note')}
        required={photos.list.length === 0}
        readOnly={form.isSaving}
      />
      <PhotoPicker photos={photos} isDisabled={form.isSaving} />
      {form.failure && <Failure error={form.failure} onRetry={() => element.current?.requestSubmit()} />}
      <div className="flex items-center justify-between gap-2">
        {isAllowed ? (
          <span className="text-sm text-muted pointer-coarse:hidden">{t('note.send')}</span>
        ) : (
          <span className="text-sm text-muted">{t('notYours')}</span>
        )}
        <Button
          type="submit"
          icon="add"
          disabled={!isAllowed || form.isSaving || photos.isPreparing}
          className="ms-auto"
        >
          {t('actions.addNote')}
        </Button>
      </div>
    </form>
  );
}
