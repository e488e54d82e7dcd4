import type { Role } from '@gantry/contract/permissions';
import type { User } from '@gantry/contract/users';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { nameOf, refreshUsers } from './refresh.ts';
import { RoleField } from './role-field.tsx';
import { UserFields } from './user-fields.tsx';

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (user: User) => void;
}

/** A dialog that creates a user. */
export function CreateDialog({ onClose, onCreated }: CreateDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  const [role, setRole] = useState<Role>('VIEWER');
  const form = useForm({
    keep: 'new user',
    read: (entered) => ({
      email: entered.text('email'),
      password: entered.exact('password'),
      firstName: entered.text('firstName'),
      lastName: entered.text('lastName'),
      role,
      ...(entered.text('phone') && { phone: entered.text('phone') }),
      ...(entered.text('department') && { department: entered.text('department') }),
    }),
    save: (input) => api.users.create.mutate(input),
    onSuccess: (user) => {
      void refreshUsers();
      say(t('users.created', { name: nameOf(user) }));
      onCreated(user);
    },
  });
  return (
    <FormDialog
      title={t('users.create')}
      form={form}
      onClose={onClose}
      action={t('users.create')}
      width="wide"
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('users.email')}
          name="email"
          type="email"
          autoComplete="off"
          error={form.errorOf('email')}
          required
          autoFocus
        />
        <Field
          label={t('users.firstPassword')}
          hint={t('users.passwordHint')}
          name="password"
          type="password"
          autoComplete="new-password"
          error={form.errorOf('password')}
          required
        />
        <UserFields errorOf={form.errorOf} />
      </div>
      <RoleField value={role} onChange={setRole} />
    </FormDialog>
  );
}
