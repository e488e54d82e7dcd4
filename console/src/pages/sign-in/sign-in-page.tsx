import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Language, languages, setLanguage } from '../../shared/locale/language.ts';
import { signOut } from '../../shared/offline/sign-out.ts';
import { useTitle } from '../../shared/page/title.ts';
import { service } from '../../shared/service/service.ts';
import { useSessionEnded } from '../../shared/session/flags.ts';
import { currentSession, homeOf, useSession } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/select.tsx';
import { hasOidcAnswer, OidcLogin, OidcReturn } from './oidc-login.tsx';
import { PasswordReset } from './password-reset.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in page. After the sign-in, it redirects to the page that the user wanted to open. */
export function SignInPage() {
  const { t, i18n } = useTranslation('session');
  useTitle('page', t('signIn'));
  const session = useSession();
  const navigate = useNavigate();
  const { to = '/' } = useSearch({ from: '/sign-in' });
  const startOf = (wanted: string) => {
    const role = currentSession()?.user.role;
    return wanted === '/' && role ? homeOf(role) : wanted;
  };
  const enter = (wanted: string) => void navigate({ to: startOf(wanted), replace: true });
  // After the redirect from the provider, the browser may still hold a session that has ended.
  const [returns] = useState(hasOidcAnswer);
  if (session && !returns) return <Navigate to={startOf(to)} replace />;
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-4 rounded-md border bg-raised p-6">
        <header className="flex items-center gap-3">
          <img src="/icon.svg" alt="" className="size-9" />
          <div>
            <h1 className="text-xl font-semibold">Gantry</h1>
            <p className="text-sm text-muted">{t('subtitle')}</p>
          </div>
        </header>
        <OidcReturn onSignedIn={enter} />
        <PasswordReset>
          <SignInForm onSignedIn={() => enter(to)} />
          <OidcLogin to={to} />
        </PasswordReset>
        <Select
          label={t('language')}
          value={i18n.language as Language}
          options={Object.entries(languages).map(([value, label]) => ({ value: value as Language, label }))}
          onChange={setLanguage}
        />
        <AccessibilityLink />
      </div>
    </main>
  );
}

/** The link to the accessibility statement of the operator, if there is one. */
function AccessibilityLink() {
  const { t } = useTranslation('session');
  const { data } = useQuery({ ...service.auth.getLoginMethods.queryOptions(), staleTime: 300_000 });
  if (!data?.accessibilityUrl) return null;
  return (
    <a href={data.accessibilityUrl} className="text-sm text-accent underline">
      {t('accessibility')}
    </a>
  );
}

/** A sign-in dialog over the page after the session has ended. The page stays mounted and keeps what was entered. */
export function SessionEnded() {
  const { t } = useTranslation('session');
  const session = useSession();
  const ended = useSessionEnded();
  if (!session) return null;
  return (
    <Dialog title={t('ended.title')} open={ended}>
      <p>{t('ended.text')}</p>
      <SignInForm email={session.user.email} onSignedIn={() => undefined} />
      {ended && <OidcLogin to={location.pathname + location.search} note={t('ended.leaves')} />}
      <Button kind="quiet" onClick={() => void signOut({ keepsEntries: true })}>
        {t('ended.leave')}
      </Button>
    </Dialog>
  );
}
