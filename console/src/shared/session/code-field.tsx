import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';

interface CodeFieldProps {
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly autoFocus?: boolean;
}

/** A field for a code of the authenticator app or, where accepted, a recovery code, which contains letters. */
export function CodeField({ hint, error, autoFocus }: CodeFieldProps) {
  const { t } = useTranslation('session');
  return (
    <Field
      label={t('code.label')}
      name="code"
      hint={hint}
      error={error}
      autoFocus={autoFocus}
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      dir="ltr"
      maxLength={100}
      required
    />
  );
}
