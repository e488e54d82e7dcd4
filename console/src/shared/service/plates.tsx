import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { service } from './service.ts';

/** How long the access to plates is considered fresh, in milliseconds. The settings change only on a restart. */
const STALE_MS = 300_000;

function useAccess() {
  const { data } = useQuery({ ...service.auth.getPlateAccess.queryOptions(), staleTime: STALE_MS });
  return data;
}

/** Whether the user's role may see number plates and search for them; true until it is known. */
export function useSeesPlates(): boolean {
  return useAccess()?.seesPlates ?? true;
}

/** Whether a search for a plate requires a reason; false until it is known. */
export function useNeedsReason(): boolean {
  return useAccess()?.requiresReason ?? false;
}

/** Explains why plates are hidden; renders nothing for users who see them. */
export function PlatesHidden() {
  const { t } = useTranslation('session');
  if (useSeesPlates()) return null;
  return (
    <p className="flex items-center gap-2 border-b bg-surface px-4 py-1.5 text-sm text-muted">
      <Icon name="hold" className="shrink-0" />
      {t('platesHidden')}
    </p>
  );
}

/** The field `reason` of a form that looks up a plate. The reason is recorded. @param error its validation error */
export function PlateReasonField({ error }: { readonly error: string | undefined }) {
  const { t } = useTranslation('session');
  return (
    <Field label={t('plateReason')} name="reason" hint={t('plateReasonHint')} error={error} maxLength={500} />
  );
}
