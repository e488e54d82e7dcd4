import { useMutation } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Faster } from '../conflict/faster.tsx';
import { Failure } from '../service/failure.tsx';
import type { useForm } from './form.ts';
import { ChangedMeanwhile } from './seen.ts';

interface FormDialogProps {
  readonly title: string;
  readonly form: Pick<ReturnType<typeof useForm>, 'ref' | 'submit' | 'failure' | 'isSaving'>;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** The label of the submit button; default: Save. */
  readonly action?: string | undefined;
  /** Whether what is sent is still being prepared. */
  readonly isBusy?: boolean;
  readonly width?: ComponentProps<typeof Dialog>['width'];
  /** Shown instead of the default message of the failure. */
  readonly failure?: ReactNode;
}

/** A form in a dialog, with the failure and the buttons to cancel and to submit below the fields. */
export function FormDialog({
  title,
  form,
  onClose,
  children,
  action,
  isBusy = false,
  width,
  failure,
}: FormDialogProps) {
  const { t } = useTranslation('common');
  const isOvertaken = form.failure instanceof ChangedMeanwhile;
  const failed =
    form.failure && (isOvertaken ? <Faster error={form.failure} /> : <Failure error={form.failure} />);
  return (
    <Dialog title={title} open onClose={onClose} {...(width && { width })}>
      <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
        {children}
        {failure || failed}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving || isBusy}>
            {isOvertaken ? t('faster.saveStill') : (action ?? t('dialog.save'))}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

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
