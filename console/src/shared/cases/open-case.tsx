import type { OpenCaseInput } from '@gantry/contract/cases';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { type NextStep, useNotices } from '../notices/notices.tsx';
import { api } from '../service/service.ts';
import { useMay } from '../session/session.ts';

/**
 * Opens a case about an event, an incident or a hit, or the one that there is, and shows it.
 * @returns null for users who do not verify cases
 */
export function useOpenCase(): {
  readonly run: (about: OpenCaseInput) => void;
  readonly isPending: boolean;
} | null {
  const { history } = useRouter();
  const { sayFailure } = useNotices();
  const { mutate, isPending } = useMutation({
    mutationFn: (about: OpenCaseInput) => api.cases.open.mutate(about),
    onSuccess: ({ number }) => history.push(`/cases/${number}`),
    onError: sayFailure,
  });
  return useMay('verifyCases') ? { run: mutate, isPending } : null;
}

/**
 * Returns a function for the offer to open a case about what was just confirmed, for its notice: by then the page may show
 * the next one, with a button that is about that.
 * @returns null for users who do not verify cases
 */
export function useCaseStep(): (about: OpenCaseInput) => NextStep | null {
  const { t } = useTranslation('common');
  const open = useOpenCase();
  return (about) =>
    open && { label: t('openCase'), icon: 'case', keys: 'Shift+o', run: () => open.run(about) };
}

/** The button that opens a case. */
export function OpenCase({ about }: { readonly about: OpenCaseInput }) {
  const { t } = useTranslation('common');
  const open = useOpenCase();
  if (!open) return null;
  return (
    <Button icon="case" disabled={open.isPending} onClick={() => open.run(about)}>
      {t('openCase')}
    </Button>
  );
}
