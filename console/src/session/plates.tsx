import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../service/service.ts';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';

/** What the settings say of plates changes when the service starts, in milliseconds. */
const STALE_MS = 300_000;

function useAccess() {
  const { data } = useQuery({ ...service.auth.getPlateAccess.queryOptions(), staleTime: STALE_MS });
  return data;
}

/** Whether the user's role sees number plates, and may search for them. Until it is known: yes. */
export function useSeesPlates(): boolean {
  return useAccess()?.seesPlates ?? true;
}

/** Whether a search for a plate needs a reason. */
export function useNeedsReason(): boolean {
  return useAccess()?.requiresReason ?? false;
}

/** Says why there are no plates, to those who see none. */
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

/** Takes the `reason` of a form that looks a plate up, which is recorded. @param error what is wrong with the reason */
export function PlateReasonField({ error }: { readonly error: string | undefined }) {
  const { t } = useTranslation('session');
  return (
    <Field label={t('plateReason')} name="reason" hint={t('plateReasonHint')} error={error} maxLength={500} />
  );
}
