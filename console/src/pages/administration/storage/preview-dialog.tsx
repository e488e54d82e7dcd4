import type { RetentionPreview } from '@gantry/contract/storage';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { RemovalTable } from './removal-table.tsx';
import { useRemovalText } from './removal-text.ts';

interface PreviewDialogProps {
  readonly preview: RetentionPreview;
  readonly title: string;
  readonly action: string;
  /** What happens on confirmation. */
  readonly note: string;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dialog that shows what retention would remove, and asks for confirmation. */
export function PreviewDialog({ preview, title, action, note, run, onDone, onClose }: PreviewDialogProps) {
  const { t, i18n } = useTranslation(['administration', 'common']);
  const removalText = useRemovalText();
  const act = useMutation({ mutationFn: run, onSuccess: onDone });
  const { totals, removals, held } = preview;
  const removesSomething = Object.values(totals).some((n) => n !== 0);
  const last = removals
    .filter((removal) => removal.class === 'events' && removal.rows > 0)
    .map(({ month }) => month)
    .sort()
    .at(-1);
  return (
    <Dialog title={title} open onClose={onClose} width="wide">
      <p className="flex gap-2 text-lg">
        {removesSomething && <Icon name="high" className="mt-1 text-high" />}
        <span>
          {removesSomething
            ? t('retention.wouldRemove', { what: removalText(totals) })
            : t('retention.removesNothing')}{' '}
          {last !== undefined && t('retention.upTo', { month: last })}
        </span>
      </p>
      {held > 0 && (
        <p className="flex gap-2">
          <Icon name="hold" className="mt-0.5" />
          {t('retention.held', { count: held, n: held.toLocaleString(i18n.language) })}
        </p>
      )}
      {removals.length > 0 && <RemovalTable removals={removals} />}
      <p className="text-muted">{note}</p>
      {act.error && <Failure error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
        <Button
          kind={removesSomething ? 'danger' : 'primary'}
          disabled={act.isPending}
          onClick={() => act.mutate()}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
