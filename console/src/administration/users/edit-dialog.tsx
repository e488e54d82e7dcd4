import type { User } from '@gantry/contract/users';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../form/form.ts';
import { Failure } from '../../service/failure.tsx';
import { api } from '../../service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useNotices } from '../../undo/undo.tsx';
import { nameOf, refreshUsers } from './refresh.ts';
import { UserFields } from './user-fields.tsx';

interface EditDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** Changes name, phone and department of a user: only those fields that were changed are sent. */
export function EditDialog({ user, onClose }: EditDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  const form = useForm({
    read: (entered) => {
      const now = {
        firstName: entered.text('firstName'),
        lastName: entered.text('lastName'),
        phone: entered.textOrNull('phone'),
        department: entered.textOrNull('department'),
      };
      const changed = Object.entries(now).filter(
        ([name, value]) => value !== (user[name as keyof typeof now] ?? null),
      );
      return { id: user.id, ...(Object.fromEntries(changed) as Partial<typeof now>) };
    },
    save: (input) => api.users.update.mutate(input),
    onSuccess: (changed) => {
      void refreshUsers();
      say(t('users.edited', { name: nameOf(changed) }));
      onClose();
    },
  });
  return (
    <Dialog title={t('users.editTitle')} open onClose={onClose}>
      <form onSubmit={form.submit} className="flex flex-col gap-3">
        <UserFields user={user} errorOf={form.errorOf} />
        {form.failure && <Failure error={form.failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {t('common:dialog.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
