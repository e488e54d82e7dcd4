import type { User } from '@gantry/contract/users';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { OnceSecret } from '../../../shared/notices/copy-button.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { useUser } from '../../../shared/session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { nameOf, refreshUsers } from './refresh.ts';
import { RoleField } from './role-field.tsx';
import { EditDialog } from './user-dialogs.tsx';

type Open = 'edit' | 'role' | 'reset' | 'resetFactor' | 'state' | 'delete' | null;

interface UserActionsProps {
  readonly user: User;
  readonly onDeleted: () => void;
}

/** The actions on a user. Actions that end sessions or cannot be undone ask for confirmation. */
export function UserActions({ user, onDeleted }: UserActionsProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { say } = useNotices();
  const [open, setOpen] = useState<Open>(null);
  const isSelf = useUser().id === user.id;
  const name = nameOf(user);
  const close = () => setOpen(null);
  const done = (text: string) => {
    close();
    say(text);
    void refreshUsers();
  };
  return (
    <div className="flex flex-wrap gap-2">
      <Button icon="edit" onClick={() => setOpen('edit')}>
        {t('users.edit')}
      </Button>
      <Button icon="users" onClick={() => setOpen('role')}>
        {t('users.changeRole')}
      </Button>
      <Button icon="key" onClick={() => setOpen('reset')}>
        {t('users.reset')}
      </Button>
      {!isSelf && (
        <Button icon="key" onClick={() => setOpen('resetFactor')}>
          {t('users.resetFactor')}
        </Button>
      )}
      <Button icon={user.isActive ? 'offline' : 'good'} onClick={() => setOpen('state')}>
        {user.isActive ? t('users.deactivate') : t('users.activate')}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setOpen('delete')}>
        {t('common:dialog.delete')}
      </Button>
      {open === 'edit' && <EditDialog user={user} onClose={close} />}
      {open === 'role' && <RoleDialog user={user} onClose={close} />}
      {open === 'reset' && <ResetDialog user={user} onClose={close} />}
      {open === 'resetFactor' && (
        <ConfirmDialog
          title={t('users.resetFactor')}
          action={t('users.resetFactor')}
          run={() => api.users.resetSecondFactor.mutate({ userId: user.id })}
          onDone={() => done(t('users.resetFactorDone', { name }))}
          onClose={close}
        >
          <p>
            <bdi>{t('users.resetFactorText', { name })}</bdi>
          </p>
        </ConfirmDialog>
      )}
      {open === 'state' && (
        <ConfirmDialog
          title={user.isActive ? t('users.deactivate') : t('users.activate')}
          action={user.isActive ? t('users.deactivate') : t('users.activate')}
          run={() => api.users.update.mutate({ id: user.id, isActive: !user.isActive })}
          onDone={() => done(t(user.isActive ? 'users.deactivated' : 'users.activated', { name }))}
          onClose={close}
        >
          <p>
            <bdi>{t(user.isActive ? 'users.deactivateText' : 'users.activateText', { name })}</bdi>
          </p>
        </ConfirmDialog>
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={t('users.deleteTitle')}
          action={t('users.deleteAction')}
          run={() => api.users.delete.mutate({ id: user.id })}
          onDone={() => {
            done(t('users.deleted', { name }));
            onDeleted();
          }}
          onClose={close}
        >
          <p>
            <bdi>{t('users.deleteText', { name, email: user.email })}</bdi>
          </p>
          <p className="text-muted">{t('users.deleteKeeps')}</p>
          {isSelf && <p className="text-critical">{t('users.deleteSelf')}</p>}
        </ConfirmDialog>
      )}
    </div>
  );
}

interface RoleDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** A dialog that changes the role of a user, which ends their sessions. */
function RoleDialog({ user, onClose }: RoleDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
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
        say(t('users.roleChanged', { name, role: t(`common:roles.${role}`) }));
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

interface ResetDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** A dialog that sets a new password for a user: a generated one, which is shown once, or an entered one. */
function ResetDialog({ user, onClose }: ResetDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const [how, setHow] = useState<'generated' | 'entered'>('generated');
  const name = nameOf(user);
  const form = useForm({
    keep: null,
    read: (entered) => ({
      userId: user.id,
      ...(how === 'entered' && { newPassword: entered.exact('newPassword') }),
    }),
    save: (input) => api.users.resetPassword.mutate(input),
    onSuccess: () => void refreshUsers(),
  });
  if (form.result) {
    return (
      // Only the button closes the dialog, because the password is not shown again.
      <Dialog title={t('users.resetDone')} open>
        <p>
          <bdi>{t('users.resetDoneText', { name })}</bdi>
        </p>
        {form.result.password !== undefined && (
          <OnceSecret secret={form.result.password} label={t('users.password')} />
        )}
        <Button kind="primary" onClick={onClose}>
          {t('common:dialog.close')}
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('users.reset')} open onClose={onClose}>
      <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
        <p>
          <bdi>{t('users.resetText', { name })}</bdi>
        </p>
        <Select
          label={t('users.resetHow')}
          value={how}
          options={[
            { value: 'generated', label: t('users.resetGenerated') },
            { value: 'entered', label: t('users.resetEntered') },
          ]}
          onChange={setHow}
        />
        {how === 'entered' && (
          <Field
            label={t('users.newPassword')}
            hint={t('users.passwordHint')}
            name="newPassword"
            type="password"
            autoComplete="new-password"
            error={form.errorOf('newPassword')}
            required
          />
        )}
        {form.failure && <Failure error={form.failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="danger" type="submit" disabled={form.isSaving}>
            {t('users.reset')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
