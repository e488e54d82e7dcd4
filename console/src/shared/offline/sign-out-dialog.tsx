import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../form/form-dialog.tsx';

interface SignOutDialogProps {
  /** How many entries would be deleted. */
  readonly count: number;
  readonly signOut: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks whether to sign out although what waits to be sent would be deleted. */
export function SignOutDialog({ count, signOut, onClose }: SignOutDialogProps) {
  const { t } = useTranslation(['mine', 'shell']);
  return (
    <ConfirmDialog
      title={t('shell:user.signOut')}
      action={t('signOut.action')}
      run={signOut}
      onDone={onClose}
      onClose={onClose}
    >
      <p>{t('signOut.text', { count })}</p>
    </ConfirmDialog>
  );
}
