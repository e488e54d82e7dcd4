import type { ChangePasswordInput } from '@gantry/contract/auth';
import type { CsvChoice } from '@gantry/contract/reports';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { setCsvChoice, useCsvChoice } from '../../shared/csv/csv-choice.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { useFactorMissing } from '../../shared/session/flags.ts';
import { useUser } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { Select } from '../../ui/select.tsx';
import { ContactsPanel } from './contacts-panel.tsx';
import { END_TOKENS, EndTokens, useWithRemaining } from './fields.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { TokensPanel } from './tokens-panel.tsx';

/**
 * The account of the signed-in user: password, second factor, and API tokens. If the user still has to set up a second
 * factor that their role requires, the page shows the setup first, and no tokens.
 */
export function AccountPage() {
  const { t } = useTranslation('account');
  const isMissing = useFactorMissing();
  return (
    <>
      <PageHeader title={t('title')}>
        {!isMissing && (
          <LinkButton to="/account/sessions" icon="activity">
            {t('sessions')}
          </LinkButton>
        )}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid max-w-6xl gap-3 lg:grid-cols-2">
          {isMissing && (
            <p
              role="alert"
              className="flex items-center gap-2 rounded-md border border-medium bg-medium-surface p-3 lg:col-span-2"
            >
              <Icon name="medium" className="shrink-0 text-medium" />
              {t('factor.missing')}
            </p>
          )}
          {isMissing && <SecondFactorPanel />}
          <IdentityPanel />
          {!isMissing && <SecondFactorPanel />}
          {!isMissing && <CsvPanel />}
          {!isMissing && <ContactsPanel className="lg:col-span-2" />}
          {!isMissing && <TokensPanel className="lg:col-span-2" />}
        </div>
      </div>
    </>
  );
}

function IdentityPanel() {
  const { t } = useTranslation(['account', 'common']);
  const user = useUser();
  const [changesPassword, setChangesPassword] = useState(false);
  return (
    <Panel title={t('identity')}>
      <div className="flex flex-col items-start gap-3">
        <Facts
          facts={[
            [t('name'), <bdi key="name">{`${user.firstName} ${user.lastName}`}</bdi>],
            [t('email'), <bdi key="email">{user.email}</bdi>],
            [t('role'), t(`common:roles.${user.role}`)],
          ]}
        />
        <p className="text-muted">{t('identityText')}</p>
        <Button icon="key" onClick={() => setChangesPassword(true)}>
          {t('changePassword')}
        </Button>
      </div>
      <PasswordDialog open={changesPassword} onClose={() => setChangesPassword(false)} />
    </Panel>
  );
}

const SEPARATORS = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
] as const;

/** How this browser writes the CSV files of lists and charts. */
function CsvPanel() {
  const { t } = useTranslation('account');
  const choice = useCsvChoice();
  const set = (change: Partial<CsvChoice>) => setCsvChoice({ ...choice, ...change });
  return (
    <Panel title={t('csv.title')}>
      <div className="flex flex-col gap-3">
        <Select
          label={t('csv.separator')}
          value={choice.separator}
          options={SEPARATORS.map(([value, name]) => ({ value, label: t(`csv.${name}`) }))}
          onChange={(separator) => set({ separator })}
        />
        {(['hasMark', 'keepsTexts'] as const).map((name) => (
          <label key={name} className="flex min-h-8 items-start gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              checked={choice[name]}
              onChange={(event) => set({ [name]: event.target.checked })}
              className="mt-1 size-4 accent-accent"
            />
            {t(`csv.${name}`)}
          </label>
        ))}
      </div>
    </Panel>
  );
}

function PasswordDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
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
