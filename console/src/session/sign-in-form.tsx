import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../service/failure.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { useSignIn } from './use-sign-in.ts';

interface SignInFormProps {
  /** Whose session ended: the address is known then. */
  readonly email?: string;
  readonly onSignedIn: () => void;
}

/** E-mail address and password, and why they were refused, as the service says it. */
export function SignInForm({ email, onSignedIn }: SignInFormProps) {
  const { t } = useTranslation('session');
  const signIn = useSignIn(onSignedIn);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    signIn.mutate({ email: String(entered.get('email')), password: String(entered.get('password')) });
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
        type="password"
        autoComplete="current-password"
        autoFocus={email !== undefined}
        required
      />
      {signIn.error && <Failure error={signIn.error} />}
      <Button kind="primary" type="submit" disabled={signIn.isPending}>
        {t('signIn')}
      </Button>
    </form>
  );
}
