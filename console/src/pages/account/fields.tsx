import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';

/** The name of the checkbox in the form. */
export const END_TOKENS = 'endApiTokens';

/** Offers to end the user's API tokens together with a change of how they sign in. Nothing is shown if there are none. */
export function EndTokens() {
  const { t, i18n } = useTranslation('session');
  const { data = [] } = useQuery(service.apiTokens.getAll.queryOptions({}));
  if (data.length === 0) return null;
  return (
    <label className="flex min-h-8 items-start gap-2 pointer-coarse:min-h-11">
      <input type="checkbox" name={END_TOKENS} className="mt-1 size-4 accent-accent" />
      <span>
        {t('endTokens.label', { n: data.length.toLocaleString(i18n.language) })}
        <span className="block text-sm text-muted">{t('endTokens.hint')}</span>
      </span>
    </label>
  );
}

/** Returns a function that appends to a notice how many API tokens are still valid, if there are any. */
export function useWithRemaining(): (notice: string, remaining: number) => string {
  const { t, i18n } = useTranslation('session');
  return (notice, remaining) =>
    remaining === 0
      ? notice
      : `${notice} ${t('endTokens.remaining', { n: remaining.toLocaleString(i18n.language) })}`;
}

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
