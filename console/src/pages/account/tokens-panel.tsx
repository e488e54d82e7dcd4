import { mayActAs, type Role } from '@gantry/contract/permissions';
import { roles } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { OnceSecret } from '../../shared/notices/copy-button.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { useUser } from '../../shared/session/session.ts';
import { TokenList } from '../../shared/users/token-list.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { OwnPasswordField } from './fields.tsx';

/** The API tokens of the signed-in user, which let programs act on their behalf. */
export function TokensPanel({ className }: { readonly className?: string }) {
  const { t } = useTranslation('account');
  const [creates, setCreates] = useState(false);
  return (
    <Panel
      title={t('tokens.title')}
      className={className}
      isFull
      actions={
        <Button icon="add" onClick={() => setCreates(true)}>
          {t('tokens.create')}
        </Button>
      }
    >
      <p className="border-b p-3 text-muted">{t('tokens.text')}</p>
      <TokenList />
      {creates && <CreateTokenDialog onClose={() => setCreates(false)} />}
    </Panel>
  );
}

/** The lifetimes that are offered for a token, in days. The service accepts 1 to 730. */
const LIFETIMES = [7, 30, 90, 180, 365, 730];
const USUAL_DAYS = 90;

/** Creates an API token and shows it. It cannot be shown again. */
function CreateTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const { t, i18n } = useTranslation(['account', 'common']);
  const own = useUser().role;
  const { data: methods } = useQuery({ ...service.auth.getLoginMethods.queryOptions(), staleTime: 300_000 });
  const hasProvider = Boolean(methods?.oidc);
  const hasFactor = useQuery(service.secondFactor.getState.queryOptions()).data?.enabled ?? false;
  const form = useForm({
    keep: 'new token',
    read: (entered) => ({
      name: entered.text('name'),
      role: entered.text('role') as Role,
      expiresInDays: Number(entered.text('expiresInDays')),
      password: entered.exact('password') || undefined,
      code: hasFactor ? entered.text('code') : undefined,
    }),
    save: (input) => api.apiTokens.create.mutate(input),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: service.apiTokens.pathKey() }),
  });
  if (form.result) {
    return (
      <Dialog title={t('tokens.createdTitle')} open>
        <p className="wrap-anywhere">
          <bdi>{t('tokens.createdText', { name: form.result.name })}</bdi>
        </p>
        <OnceSecret secret={form.result.token} label={t('tokens.token')} />
        <p className="text-sm text-muted">
          {t('tokens.use')} <code dir="ltr">Authorization: Bearer …</code>
        </p>
        <Button kind="primary" onClick={onClose}>
          {t('common:dialog.close')}
        </Button>
      </Dialog>
    );
  }
  const days = (n: number) =>
    new Intl.NumberFormat(i18n.language, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(n);
  return (
    <FormDialog title={t('tokens.create')} form={form} onClose={onClose} action={t('tokens.create')}>
      <Field
        label={t('tokens.name')}
        name="name"
        hint={t('tokens.nameHint')}
        maxLength={100}
        autoComplete="off"
        error={form.errorOf('name')}
        autoFocus
        required
      />
      <ChoiceField
        label={t('role')}
        name="role"
        defaultValue={own}
        options={roles
          .filter((role) => mayActAs(own, role))
          .map((role) => ({ value: role, label: t(`common:roles.${role}`) }))}
      />
      <ChoiceField
        label={t('tokens.lifetime')}
        name="expiresInDays"
        defaultValue={String(USUAL_DAYS)}
        options={LIFETIMES.map((n) => ({ value: String(n), label: days(n) }))}
      />
      <OwnPasswordField
        error={form.errorOf('password')}
        hint={hasProvider ? t('tokens.passwordHint') : undefined}
        autoFocus={false}
      />
      {hasFactor && <CodeField hint={t('factor.presentCode')} error={form.errorOf('code')} />}
      <p className="text-sm text-muted">{t('tokens.limits')}</p>
    </FormDialog>
  );
}
