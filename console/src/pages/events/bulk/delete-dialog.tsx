import { useTranslation } from 'react-i18next';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

interface DeleteDialogProps {
  readonly open: boolean;
  readonly count: number;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

/** Asks for confirmation before events are deleted, which cannot be undone. */
export function DeleteDialog({ open, count, onClose, onDelete }: DeleteDialogProps) {
  const { t, i18n } = useTranslation('events');
  const { t: common } = useTranslation('common');
  const n = count.toLocaleString(i18n.language);
  return (
    <Dialog title={t('bulk.delete.title', { count, n })} open={open} onClose={onClose}>
      <p>{t('bulk.delete.text')}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{common('dialog.cancel')}</Button>
        <Button kind="danger" icon="delete" onClick={onDelete}>
          {t('bulk.delete.confirm', { count, n })}
        </Button>
      </div>
    </Dialog>
  );
}
