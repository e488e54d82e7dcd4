import type { ChangePasswordInput } from '@gantry/contract/auth';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../service/failure.tsx';
import { api } from '../service/service.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { useNotices } from '../undo/undo.tsx';

/** A dialog that changes the user's own password. */
export function PasswordDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const { t } = useTranslation('session');
  const { say } = useNotices();
  const [differs, setDiffers] = useState(false);
  const change = useMutation({
    mutationFn: (input: ChangePasswordInput) => api.auth.changePassword.mutate(input),
    onSuccess: () => {
      say(t('changePassword.done'));
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const newPassword = String(entered.get('new'));
    const isSame = newPassword === entered.get('repeated');
    setDiffers(!isSame);
    if (isSame) change.mutate({ currentPassword: String(entered.get('current')), newPassword });
  };
  return (
    <Dialog title={t('changePassword.title')} open={open} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field
          label={t('changePassword.current')}
          name="current"
          type="password"
          autoComplete="current-password"
          required
        />
        <Field
          label={t('changePassword.new')}
          name="new"
          type="password"
          autoComplete="new-password"
          required
        />
        <Field
          label={t('changePassword.repeated')}
          name="repeated"
          type="password"
          autoComplete="new-password"
          error={differs ? t('changePassword.differs') : undefined}
          required
        />
        {change.error && <Failure error={change.error} />}
        <Button kind="primary" type="submit" disabled={change.isPending}>
          {t('changePassword.change')}
        </Button>
      </form>
    </Dialog>
  );
}
