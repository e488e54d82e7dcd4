import { noteAudiences } from '@gantry/contract/incident-states';
import type { NoteAudience } from '@gantry/contract/incident-work';
import type { Incident } from '@gantry/contract/incidents';
import { type RefObject, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Draft, useDrafts } from '../../shared/form/drafts.ts';
import { sendWithKeys, useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { outbox, type Waiting } from '../../shared/offline/outbox.ts';
import { OutboxList, Sending } from '../../shared/offline/outbox-list.tsx';
import { PhotoPicker } from '../../shared/photos/photo-picker.tsx';
import { usePhotos } from '../../shared/photos/use-photos.ts';
import { Failure, sentenceOf } from '../../shared/service/failure.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { useAllowed } from './allowed.ts';
import { useRefreshIncidents } from './use-actions.ts';

interface NoteComposerProps {
  readonly incident: Incident;
  /** Refers to the text area, which the shortcut `n` focuses. */
  readonly area: RefObject<HTMLTextAreaElement | null>;
}

/**
 * The form that adds a note to an incident. The text and the images are kept as a draft until the service has
 * accepted them, even if the user visits other pages.
 */
export function NoteComposer({ incident, area }: NoteComposerProps) {
  const { t } = useTranslation(['incidents', 'mine']);
  const allowed = useAllowed();
  const { say, sayFailure } = useNotices();
  const refresh = useRefreshIncidents();
  const element = useRef<HTMLFormElement>(null);
  const drafts = useDrafts();
  const titleOf = useIncidentTitle();
  const photos = usePhotos(drafts.get(incident.id)?.photos);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const keep = (changes: Partial<Draft>) => drafts.keep(incident.id, changes);
  const isUnchanged = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: saves the draft only when the images change
  useEffect(() => {
    // The images of before a reload are read later, and must not be replaced by none.
    if (!isUnchanged.current) keep({ photos: photos.list.map(({ file }) => file) });
    isUnchanged.current = false;
  }, [photos.list]);
  const showDraft = () => {
    const draft = drafts.get(incident.id);
    if (area.current) area.current.value = draft?.note ?? '';
    photos.replace(draft?.photos ?? []);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `showDraft` reads the draft at the time of the call
  useEffect(() => drafts.onPutBack(incident.id, showDraft), [incident.id]);
  const form = useForm({
    keep: null,
    read: (entered) => ({
      id: incident.id,
      note: entered.text('note'),
      audience: entered.text('audience') as NoteAudience,
    }),
    save: async (input) => {
      const sent = drafts.get(incident.id);
      // A user who returns to the page while the request is pending must not send the note again.
      drafts.forget(incident.id);
      try {
        return await outbox.deliver({
          kind: 'note',
          incidentId: input.id,
          title: titleOf(incident),
          note: input.note,
          audience: input.audience,
          images: photos.list.map(({ file }) => file),
        });
      } catch (error) {
        drafts.putBack(incident.id, { photos: [], ...sent, note: input.note });
        if (!isShown.current) {
          const why = sentenceOf(error).sentence;
          sayFailure(new Error(t('note.notAdded', { title: `\u2068${titleOf(incident)}\u2069`, why })));
        }
        throw error;
      }
    },
    onSuccess: (outcome) => {
      // A note that was sent before may have been put back meanwhile.
      if (isShown.current) showDraft();
      say(t(outcome === 'sent' ? 'said.addNote' : 'mine:said.waits'));
      void refresh();
    },
  });
  const edit = ({ id, entry }: Waiting) => {
    if (entry.kind !== 'note') return;
    drafts.putBack(incident.id, { note: entry.note, photos: entry.images });
    void outbox.drop(id);
  };
  const isAllowed = allowed(incident, 'addNote');
  // A draft stays visible if the incident is assigned to another user meanwhile.
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
        defaultValue={drafts.get(incident.id)?.note}
        onChange={({ target }) => keep({ note: target.value })}
        maxLength={2000}
        error={form.errorOf('note')}
        required={photos.list.length === 0}
        readOnly={form.isSaving}
      />
      <PhotoPicker photos={photos} isDisabled={form.isSaving} />
      <ChoiceField
        label={t('note.audience')}
        name="audience"
        defaultValue="INTERNAL"
        options={noteAudiences.map((value) => ({ value, label: t(`report.audiences.${value}`) }))}
      />
      <Sending isSaving={form.isSaving} images={photos.list.length} />
      {!form.isSaving && <OutboxList incidentId={incident.id} onEdit={edit} />}
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
