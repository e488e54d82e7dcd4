import type { ChangePasswordInput } from '@gantry/contract/auth';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { END_TOKENS, EndTokens, useWithRemaining } from './fields.tsx';

/** A dialog that changes the user's own password. */
export function PasswordDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const { t } = useTranslation('session');
  const { say } = useNotices();
  const withRemaining = useWithRemaining();
  const [differs, setDiffers] = useState(false);
  const change = useMutation({
    mutationFn: (input: ChangePasswordInput) => api.auth.changePassword.mutate(input),
    onSuccess: ({ remainingApiTokens }) => {
      void queryClient.invalidateQueries({ queryKey: service.apiTokens.pathKey() });
      say(withRemaining(t('changePassword.done'), remainingApiTokens));
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const newPassword = String(entered.get('new'));
    const isSame = newPassword === entered.get('repeated');
    setDiffers(!isSame);
    const currentPassword = String(entered.get('current'));
    if (isSame) change.mutate({ currentPassword, newPassword, endApiTokens: entered.has(END_TOKENS) });
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
        <EndTokens />
        {change.error && <Failure error={change.error} />}
        <Button kind="primary" type="submit" disabled={change.isPending}>
          {t('changePassword.change')}
        </Button>
      </form>
    </Dialog>
  );
}
