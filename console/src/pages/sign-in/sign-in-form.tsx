import { GantryError } from '@gantry/client';
import { SECOND_FACTOR_REQUIRED, WRONG_CODE } from '@gantry/contract/second-factor';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { CodeField } from '../../shared/session/code-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { useSignIn } from './use-sign-in.ts';

interface SignInFormProps {
  /** E-mail address of the user whose session has ended; absent on the sign-in page. */
  readonly email?: string;
  readonly onSignedIn: () => void;
}

/** E-mail address, password and, if the service asks for it, a code; with the error message of the service, if any. */
export function SignInForm({ email, onSignedIn }: SignInFormProps) {
  const { t } = useTranslation('session');
  const signIn = useSignIn(onSignedIn);
  const said = signIn.error instanceof GantryError ? signIn.error.message : null;
  const [isShown, setShown] = useState(false);
  const [asksCode, setAsksCode] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const code = String(entered.get('code') ?? '').trim();
    signIn.mutate(
      {
        email: String(entered.get('email')),
        password: String(entered.get('password')),
        ...(code && { code }),
      },
      { onError: ({ message }) => message === SECOND_FACTOR_REQUIRED && setAsksCode(true) },
    );
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field
        label={t('email')}
        name="email"
        type="email"
        autoComplete="username"
        defaultValue={email}
        autoFocus={email === undefined}
        required
      />
      <Field
        label={t('password')}
        name="password"
        type={isShown ? 'text' : 'password'}
        autoComplete="current-password"
        autoFocus={email !== undefined}
        required
      />
      <label className="flex min-h-8 items-center gap-2 text-sm pointer-coarse:min-h-11">
        <input
          type="checkbox"
          checked={isShown}
          onChange={(event) => setShown(event.target.checked)}
          className="size-4 accent-accent"
        />
        {t('showPassword')}
      </label>
      {asksCode && (
        <CodeField hint={t('code.hint')} error={said === WRONG_CODE ? said : undefined} autoFocus />
      )}
      {signIn.error && said !== SECOND_FACTOR_REQUIRED && said !== WRONG_CODE && (
        <Failure
          error={signIn.error}
          isOrdinary={signIn.error instanceof GantryError && signIn.error.code === 'UNAUTHORIZED'}
        />
      )}
      <Button kind="primary" type="submit" disabled={signIn.isPending}>
        {t('signIn')}
      </Button>
    </form>
  );
}
