import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../service/failure.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** Explains the consequences. */
  readonly children: ReactNode;
  /** The label of the confirm button. */
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone, runs it, and shows the error if it fails. */
export function ConfirmDialog({ title, children, action, run, onDone, onClose }: ConfirmDialogProps) {
  const { t } = useTranslation('common');
  const act = useMutation({ mutationFn: run, onSuccess: onDone });
  return (
    <Dialog title={title} open onClose={onClose}>
      {children}
      {act.error && <Failure error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('dialog.cancel')}</Button>
        <Button kind="danger" disabled={act.isPending} onClick={() => act.mutate()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
