import type { Role } from '@gantry/contract/permissions';
import type { User } from '@gantry/contract/users';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { changesOf, useSeen } from '../../../shared/form/seen.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { nameOf, refreshUsers } from './refresh.ts';
import { RoleField } from './role-field.tsx';

interface CreateDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (user: User) => void;
}

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

interface UserFieldsProps {
  readonly user?: User;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields that the dialogs for creating and editing a user share. */
function UserFields({ user, errorOf }: UserFieldsProps) {
  const { t } = useTranslation('administration');
  return (
    <>
      <Field
        label={t('users.firstName')}
        name="firstName"
        autoComplete="off"
        defaultValue={user?.firstName}
        error={errorOf('firstName')}
        required
      />
      <Field
        label={t('users.lastName')}
        name="lastName"
        autoComplete="off"
        defaultValue={user?.lastName}
        error={errorOf('lastName')}
        required
      />
      <Field
        label={t('users.phone')}
        name="phone"
        type="tel"
        autoComplete="off"
        defaultValue={user?.phone}
        error={errorOf('phone')}
      />
      <Field
        label={t('users.department')}
        name="department"
        autoComplete="off"
        defaultValue={user?.department}
        error={errorOf('department')}
      />
    </>
  );
}
