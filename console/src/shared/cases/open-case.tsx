import type { OpenCaseInput } from '@gantry/contract/cases';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { useNotices } from '../notices/notices.tsx';
import { api } from '../service/service.ts';
import { useMay } from '../session/session.ts';

/**
 * Opens a case about an event, an incident or a hit, or the one that there is, and shows it.
 * @returns null for users who do not verify cases
 */
export function useOpenCase(
  about: OpenCaseInput,
): { readonly run: () => void; readonly isPending: boolean } | null {
  const { history } = useRouter();
  const { sayFailure } = useNotices();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.cases.open.mutate(about),
    onSuccess: ({ number }) => history.push(`/cases/${number}`),
    onError: sayFailure,
  });
  return useMay('verifyCases') ? { run: () => mutate(), isPending } : null;
}

/** The button that opens a case. */
export function OpenCase({ about }: { readonly about: OpenCaseInput }) {
  const { t } = useTranslation('common');
  const open = useOpenCase(about);
  if (!open) return null;
  return (
    <Button icon="case" disabled={open.isPending} onClick={open.run}>
      {t('openCase')}
    </Button>
  );
}
