import type { User } from '@gantry/contract/users';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { OnceSecret } from '../../../shared/notices/copy-button.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { nameOf, refreshUsers } from './refresh.ts';

interface ResetDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** A dialog that sets a new password for a user: a generated one, which is shown once, or an entered one. */
export function ResetDialog({ user, onClose }: ResetDialogProps) {
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
