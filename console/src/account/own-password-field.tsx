import { useTranslation } from 'react-i18next';
import { Field } from '../ui/field.tsx';

/** The present password, which the service asks for before it changes how the user signs in. */
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
