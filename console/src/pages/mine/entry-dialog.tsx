import type { LogKind } from '@gantry/contract/log';
import { MAX_LOG_TEXT } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { sendWithKeys, useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { outbox } from '../../shared/offline/outbox.ts';
import { Sending } from '../../shared/offline/outbox-list.tsx';
import type { Entry } from '../../shared/offline/send.ts';
import type { Card } from '../../shared/offline/stored.ts';
import { PhotoPicker } from '../../shared/photos/photo-picker.tsx';
import { type Photos, useKeptPhotos, usePhotos } from '../../shared/photos/use-photos.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

/** What is written down, and what the form begins with. */
export interface Draft {
  /** The incident; null for an entry of the log. */
  readonly about: Pick<Card, 'id' | 'title'> | null;
  readonly text?: string;
  readonly images?: readonly Blob[];
  readonly logKind?: LogKind;
  /** The number of the refused entry that it replaces. */
  readonly replaces?: number;
}

/** What people in the field write into the log. */
const kinds = ['FAULT', 'VISIT', 'NOTE'] as const satisfies readonly LogKind[];

interface EntryDialogProps {
  readonly draft: Draft;
  readonly onClose: () => void;
}

/** The form for a note with photos on an incident, or for an entry of the log. It is sent at once, or waits. */
export function EntryDialog({ draft, onClose }: EntryDialogProps) {
  const { t } = useTranslation('mine');
  const { say } = useNotices();
  const { about, text, images = [], logKind, replaces } = draft;
  const keep = `field ${replaces ?? ''} ${about?.id ?? 'log'}`;
  const photos = usePhotos(images);
  useKeptPhotos(keep, photos);
  const form = useForm({
    keep,
    read: (entered): Entry =>
      about
        ? {
            kind: 'note',
            incidentId: about.id,
            title: about.title,
            note: entered.text('note'),
            images: photos.list.map(({ file }) => file),
          }
        : { kind: 'log', logKind: entered.text('kind') as LogKind, text: entered.text('text') },
    save: async (entry) => {
      const outcome = await outbox.deliver(entry);
      if (replaces !== undefined) await outbox.drop(replaces);
      return outcome;
    },
    onSuccess(outcome) {
      say(t(outcome === 'sent' ? 'said.sent' : 'said.waits'));
      onClose();
    },
  });
  return (
    <Dialog title={about ? t('commands.note') : t('commands.log')} open onClose={onClose}>
      {about && <bdi className="line-clamp-2 text-muted">{about.title}</bdi>}
      <form
        ref={form.ref}
        onSubmit={form.submit}
        onKeyDown={sendWithKeys}
        className="sunlight flex flex-col gap-3"
      >
        {!about && (
          <ChoiceField
            label={t('kind')}
            name="kind"
            defaultValue={logKind ?? 'FAULT'}
            options={kinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
          />
        )}
        <Field
          label={about ? t('note') : t('text')}
          name={about ? 'note' : 'text'}
          lines={4}
          defaultValue={text}
          maxLength={about ? 2000 : MAX_LOG_TEXT}
          required={!about || photos.list.length === 0}
          error={form.errorOf(about ? 'note' : 'text')}
          autoFocus
        />
        {about && <PhotoPicker photos={photos} isDisabled={form.isSaving} />}
        <Sending isSaving={form.isSaving} images={photos.list.length} />
        {form.failure && <Failure error={form.failure} />}
        <SendButton photos={photos} isSaving={form.isSaving} />
      </form>
    </Dialog>
  );
}

function SendButton({ photos, isSaving }: { readonly photos: Photos; readonly isSaving: boolean }) {
  const { t } = useTranslation('mine');
  return (
    <Button kind="primary" type="submit" icon="send" isBig disabled={isSaving || photos.isPreparing}>
      {isSaving ? t('outbox.sending') : t('send')}
    </Button>
  );
}
