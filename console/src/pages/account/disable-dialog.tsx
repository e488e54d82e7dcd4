import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api } from '../../shared/service/service.ts';
import { CodeField } from '../../shared/session/code-field.tsx';
import { END_TOKENS, EndTokens, useWithRemaining } from './end-tokens.tsx';
import { OwnPasswordField } from './own-password-field.tsx';

/** The dialog that disables the second factor. It asks for the password and a code. */
export function DisableDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation('account');
  const { say } = useNotices();
  const withRemaining = useWithRemaining();
  const form = useForm({
    keep: null,
    read: (entered) => ({
      password: entered.exact('password'),
      code: entered.text('code'),
      endApiTokens: entered.checked(END_TOKENS),
    }),
    save: (input) => api.secondFactor.disable.mutate(input),
    onSuccess: ({ remainingApiTokens }) => {
      say(withRemaining(t('factor.disabled'), remainingApiTokens));
      onClose();
    },
  });
  return (
    <FormDialog title={t('factor.disableTitle')} form={form} onClose={onClose} action={t('factor.disable')}>
      <p>{t('factor.disableText')}</p>
      <OwnPasswordField error={form.errorOf('password')} />
      <CodeField hint={t('factor.presentCode')} error={form.errorOf('code')} />
      <EndTokens />
    </FormDialog>
  );
}
