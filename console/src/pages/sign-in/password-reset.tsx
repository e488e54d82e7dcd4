import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/load-code.ts';

// Read before the router reads the URL, so that the token appears neither in the address bar nor in the history.
const token = readToken();

function readToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('reset');
  if (given !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return given;
}

const useAskForLink = later(async () => (await import('./password-forms.tsx')).AskForLink);
const useSetPassword = later(async () => (await import('./password-forms.tsx')).SetPassword);

interface PasswordResetProps {
  /** The form for signing in. */
  readonly children: ReactNode;
}

/** The ways to a new password around the form for signing in: the link to ask for one, and the form that a link opens. */
export function PasswordReset({ children }: PasswordResetProps) {
  const { t } = useTranslation('session');
  const { data } = useQuery({ ...service.auth.getLoginMethods.queryOptions(), staleTime: 300_000 });
  const [step, setStep] = useState<'signIn' | 'ask' | 'set' | 'done'>(token === null ? 'signIn' : 'set');
  const AskForLink = useAskForLink(step === 'ask');
  const SetPassword = useSetPassword(step === 'set');
  if (step === 'set')
    return (
      SetPassword && (
        <SetPassword token={token ?? ''} onDone={() => setStep('done')} onBack={() => setStep('ask')} />
      )
    );
  if (step === 'ask') return AskForLink && <AskForLink onBack={() => setStep('signIn')} />;
  return (
    <>
      {step === 'done' && <p role="status">{t('reset.done')}</p>}
      {children}
      {data?.passwordReset && (
        <Button kind="quiet" onClick={() => setStep('ask')}>
          {t('reset.forgot')}
        </Button>
      )}
    </>
  );
}
