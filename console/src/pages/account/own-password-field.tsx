import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';

interface OwnPasswordFieldProps {
  readonly error: string | undefined;
  /** Says when the password is not necessary. Without it, the field must be filled in. */
  readonly hint?: string | undefined;
  readonly autoFocus?: boolean;
}

/** The field for the current password, which the service requires for changes of how users and programs sign in. */
export function OwnPasswordField({ error, hint, autoFocus = true }: OwnPasswordFieldProps) {
  const { t } = useTranslation('account');
  return (
    <Field
      label={t('password')}
      name="password"
      type="password"
      autoComplete="current-password"
      hint={hint}
      error={error}
      autoFocus={autoFocus}
      required={hint === undefined}
    />
  );
}
