import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { api } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { OwnPasswordField } from './own-password-field.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** The dialog that replaces the recovery codes. It asks for the password and a code, and shows the new codes. */
export function RenewDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('account');
  const form = useForm({
    keep: null,
    read: (entered) => ({ password: entered.exact('password'), code: entered.text('code') }),
    save: (input) => api.secondFactor.renewRecoveryCodes.mutate(input),
  });
  if (form.result) {
    return <RecoveryCodes title={t('factor.renewed')} codes={form.result.recoveryCodes} onClose={onClose} />;
  }
  return (
    <FormDialog title={t('factor.renew')} form={form} onClose={onClose} action={t('factor.renewAction')}>
      <p>{t('factor.renewText')}</p>
      <OwnPasswordField error={form.errorOf('password')} />
      <CodeField hint={t('factor.presentCode')} error={form.errorOf('code')} />
    </FormDialog>
  );
}
