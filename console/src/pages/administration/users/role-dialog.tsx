import type { User } from '@gantry/contract/users';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/confirm-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { api } from '../../../shared/service/service.ts';
import { nameOf, refreshUsers } from './refresh.ts';
import { RoleField } from './role-field.tsx';

interface RoleDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** A dialog that changes the role of a user, which ends their sessions. */
export function RoleDialog({ user, onClose }: RoleDialogProps) {
  const { t } = useTranslation(['administration', 'shell']);
  const { say } = useNotices();
  const [role, setRole] = useState(user.role);
  const name = nameOf(user);
  return (
    <ConfirmDialog
      title={t('users.changeRole')}
      action={t('users.changeRole')}
      run={() => api.users.updateRole.mutate({ userId: user.id, role })}
      onDone={() => {
        void refreshUsers();
        say(t('users.roleChanged', { name, role: t(`shell:roles.${role}`) }));
        onClose();
      }}
      onClose={onClose}
    >
      <RoleField value={role} onChange={setRole} />
      <p>
        <bdi>{t('users.roleText', { name })}</bdi>
      </p>
    </ConfirmDialog>
  );
}
