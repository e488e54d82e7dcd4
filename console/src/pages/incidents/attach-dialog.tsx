import type { Incident } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { useRefreshIncidents } from './use-actions.ts';

interface AttachDialogProps {
  readonly incident: Incident;
  readonly onClose: () => void;
}

/** The id of an event. @param entered the id, or a URL with it in the query parameter `event` */
function eventIdOf(entered: string): string {
  return /[?&]event=([0-9a-f-]{36})/i.exec(entered)?.[1] ?? entered;
}

/** A form that attaches an event by its id or URL. */
export function AttachDialog({ incident, onClose }: AttachDialogProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  const form = useForm({
    keep: `attach ${incident.id}`,
    read: (entered) => ({ id: incident.id, eventId: eventIdOf(entered.text('eventId')) }),
    save: (input) => api.incidents.attachEvent.mutate(input),
    onSuccess: () => {
      say(t('said.attachEvent'));
      void refresh();
      onClose();
    },
  });
  return (
    <Dialog title={t('actions.attachEvent')} open onClose={onClose}>
      <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
        <Field
          label={t('attach.label')}
          name="eventId"
          hint={t('attach.hint')}
          error={form.errorOf('eventId')}
          required
          autoFocus
          dir="ltr"
        />
        {form.failure && <Failure error={form.failure} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {t('actions.attachEvent')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
