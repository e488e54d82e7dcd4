import { useTranslation } from 'react-i18next';
import { Field } from '../ui/field.tsx';

/** The field for the current password, which the service requires for changes of the second factor. */
export function OwnPasswordField({ error }: { readonly error: string | undefined }) {
  const { t } = useTranslation('account');
  return (
    <Field
      label={t('password')}
      name="password"
      type="password"
      autoComplete="current-password"
      error={error}
      autoFocus
      required
    />
  );
}
