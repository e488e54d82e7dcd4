import { useTranslation } from 'react-i18next';
import { useSessionEnded } from '../../shared/session/ended.ts';
import { useSession } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { OidcLogin } from './oidc-login.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { signOut } from './use-sign-in.ts';

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
      <Button kind="quiet" onClick={() => void signOut()}>
        {t('ended.leave')}
      </Button>
    </Dialog>
  );
}
