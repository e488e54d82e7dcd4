import type { User } from '@gantry/contract/users';
import { useTranslation } from 'react-i18next';
import { changesOf } from '../../../shared/form/changes.ts';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { useSeen } from '../../../shared/form/seen.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api } from '../../../shared/service/service.ts';
import { nameOf, refreshUsers } from './refresh.ts';
import { UserFields } from './user-fields.tsx';

interface EditDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** A dialog that changes the name, phone and department of a user. Only changed fields are sent. */
export function EditDialog({ user: given, onClose }: EditDialogProps) {
  const { before: user = given, refuseUnseen } = useSeen(given, () =>
    api.users.getById.query({ id: given.id }),
  );
  const { t } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  const form = useForm({
    keep: `user ${given.id}`,
    read: (entered) =>
      changesOf(user, {
        firstName: entered.text('firstName'),
        lastName: entered.text('lastName'),
        phone: entered.textOrNull('phone'),
        department: entered.textOrNull('department'),
      }),
    save: async (changes) => {
      await refuseUnseen(changes);
      return api.users.update.mutate({ id: user.id, ...changes });
    },
    onSuccess: (changed) => {
      void refreshUsers();
      say(t('users.edited', { name: nameOf(changed) }));
      onClose();
    },
  });
  return (
    <FormDialog title={t('users.editTitle')} form={form} onClose={onClose}>
      <UserFields user={user} errorOf={form.errorOf} />
    </FormDialog>
  );
}
