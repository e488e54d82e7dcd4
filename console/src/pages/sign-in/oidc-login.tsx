import { GantryError } from '@gantry/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { keepSession } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { beginOidcLogin, canUseOidc, type OidcAnswer, takeOidcAnswer } from './oidc.ts';

interface OidcLoginProps {
  /** Path to open after the login. */
  readonly to: string;
  /** Text above the button. */
  readonly note?: string;
}

/** The button for signing in at the login provider of the organisation; renders nothing if there is none. */
export function OidcLogin({ to, note }: OidcLoginProps) {
  const { t } = useTranslation('session');
  const { data } = useQuery({ ...service.auth.getLoginMethods.queryOptions(), staleTime: 300_000 });
  const begin = useMutation({ mutationFn: (path: string) => beginOidcLogin(path, to) });
  if (!data?.oidc) return null;
  const { name, path } = data.oidc;
  return (
    <div className="flex flex-col gap-2 border-t pt-4">
      {note && <p className="text-sm text-muted">{note}</p>}
      <Button icon="key" disabled={!canUseOidc || begin.isPending} onClick={() => begin.mutate(path)}>
        <bdi className="one-line">{t('oidc.signIn', { name })}</bdi>
      </Button>
      {!canUseOidc && <p className="text-sm text-muted">{t('oidc.insecure')}</p>}
      {begin.error && <Failure error={begin.error} />}
    </div>
  );
}

/** Completes the login after the redirect back from the provider, and shows the error if it failed. */
export function OidcReturn({ onSignedIn }: { readonly onSignedIn: (to: string) => void }) {
  const { t } = useTranslation('session');
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (answer: OidcAnswer) => {
      if ('error' in answer) throw new GantryError('UNAUTHORIZED', answer.error || t('oidc.notBegunHere'));
      const { code, begun } = answer;
      keepSession(await api.auth.completeOidcLogin.mutate({ code, verifier: begun.verifier }));
      return begun.to;
    },
    onSuccess: onSignedIn,
  });
  useEffect(() => {
    const answer = takeOidcAnswer();
    if (answer) mutate(answer);
  }, [mutate]);
  if (error) return <Failure error={error} />;
  return isPending ? <p role="status">{t('oidc.completing')}</p> : null;
}
