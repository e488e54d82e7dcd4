import { GantryError } from '@gantry/client';
import type { SessionUser } from '@gantry/contract/auth';
import { SECOND_FACTOR_REQUIRED, WRONG_CODE } from '@gantry/contract/second-factor';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { api } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { keepSession } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';

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

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Code of the second factor; absent until the service asks for it. */
  readonly code?: string;
}

/** The mutation that signs in, for all tabs of the browser. */
function useSignIn(onSignedIn: (user: SessionUser) => void) {
  return useMutation({
    mutationFn: (credentials: Credentials) => api.auth.login.mutate(credentials),
    onSuccess: (session) => {
      keepSession(session);
      onSignedIn(session.user);
    },
  });
}
