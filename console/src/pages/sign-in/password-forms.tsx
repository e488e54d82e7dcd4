import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Language } from '../../shared/locale/language.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';

/** Asks for a link to a new password, which is sent by e-mail. */
export function AskForLink({ onBack }: { readonly onBack: () => void }) {
  const { t, i18n } = useTranslation('session');
  const ask = useMutation({
    mutationFn: (email: string) =>
      api.auth.requestPasswordReset.mutate({ email, language: i18n.language as Language }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    ask.mutate(String(new FormData(event.currentTarget).get('email')));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <h2 className="font-semibold">{t('reset.title')}</h2>
      {ask.isSuccess ? (
        <p role="status">{t('reset.sent')}</p>
      ) : (
        <>
          <p className="text-muted">{t('reset.ask')}</p>
          <Field label={t('email')} name="email" type="email" autoComplete="username" autoFocus required />
          {ask.error && <Failure error={ask.error} />}
          <Button kind="primary" type="submit" disabled={ask.isPending}>
            {t('reset.send')}
          </Button>
        </>
      )}
      <Button kind="quiet" onClick={onBack}>
        {t('reset.back')}
      </Button>
    </form>
  );
}

interface SetPasswordProps {
  readonly token: string;
  readonly onDone: () => void;
  /** Asks for another link. */
  readonly onBack: () => void;
}

/** Sets a new password with the token of such a link. */
export function SetPassword({ token, onDone, onBack }: SetPasswordProps) {
  const { t } = useTranslation('session');
  const [differs, setDiffers] = useState(false);
  const set = useMutation({
    mutationFn: (newPassword: string) => api.auth.resetPassword.mutate({ token, newPassword }),
    onSuccess: onDone,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const isSame = entered.get('newPassword') === entered.get('repeated');
    setDiffers(!isSame);
    if (isSame) set.mutate(String(entered.get('newPassword')));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <h2 className="font-semibold">{t('reset.title')}</h2>
      <Field
        label={t('changePassword.new')}
        name="newPassword"
        type="password"
        autoComplete="new-password"
        autoFocus
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
      {set.error && <Failure error={set.error} />}
      <Button kind="primary" type="submit" disabled={set.isPending}>
        {t('changePassword.change')}
      </Button>
      {set.error && (
        <Button kind="quiet" onClick={onBack}>
          {t('reset.forgot')}
        </Button>
      )}
    </form>
  );
}
