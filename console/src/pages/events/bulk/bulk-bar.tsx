import type { LookUpReason } from '@gantry/contract/events';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '../../../shared/session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import type { EventFilters } from '../search.ts';
import { RejectDialog } from '../triage/reject-dialog.tsx';
import type { RowStates } from '../triage/row-states.ts';
import { BulkProgressBar } from './bulk-progress.tsx';
import type { BulkAction } from './commands.ts';
import { type BulkTarget, useBulk } from './use-bulk.ts';

interface BulkBarProps {
  readonly input: EventFilters;
  readonly why: LookUpReason;
  readonly total: number | null;
  readonly selection: { readonly selected: ReadonlySet<string>; readonly clear: () => void };
  readonly states: RowStates;
  /** Reloads the list; called after events were deleted. */
  readonly onDone: () => Promise<void>;
}

/** The commands for all selected or all matching events. It stays at the top while the list is scrolled. */
export function BulkBar({ input, why, total, selection, states, onDone }: BulkBarProps) {
  const { t, i18n } = useTranslation('events');
  const mayDecide = useMay('manageIncidents');
  const mayDelete = useMay('deleteEvents');
  const bulk = useBulk({ ...states, onDeleted: onDone });
  const [chosen, setChosen] = useState<{ target: BulkTarget; beside: ReadonlySet<string> } | null>(null);
  const [asks, setAsks] = useState<'REJECTED' | 'delete' | null>(null);
  const { selected } = selection;
  // The choice of all matching events holds until a row is selected or deselected, or the selection is cleared.
  const all = chosen?.beside === selected ? chosen.target : null;
  const target = all ?? { ids: [...selected], isSeen: true };
  const count = target.ids.length;
  if (count === 0 && !bulk.run) return null;
  const n = (value: number) => value.toLocaleString(i18n.language);
  const chooseAll = async () => {
    const ids = await bulk.collect(input, why);
    if (ids) setChosen({ target: { ids, isSeen: false }, beside: selected });
  };
  const leave = () => {
    setChosen(null);
    bulk.forget();
    selection.clear();
  };
  const start = (action: BulkAction, why?: string) => {
    setAsks(null);
    void bulk.start(target, action, why);
  };
  const ask = (action: BulkAction) =>
    action === 'REJECTED' || action === 'delete' ? setAsks(action) : start(action);
  return (
    <section aria-label={t('bulk.label')} className="flex flex-col gap-2 border-b bg-selected px-3 py-1.5">
      {bulk.run ? (
        <BulkProgressBar run={bulk.run} onCancel={bulk.cancel} onClose={leave} />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <span className="figures font-medium" role="status">
            {t('bulk.selected', { count, n: n(count) })}
          </span>
          {!all && total !== null && total > selected.size && (
            <Button kind="quiet" onClick={() => void chooseAll()} className="text-accent">
              {t('bulk.all', { count: total, n: n(total) })}
            </Button>
          )}
          <span className="grow" />
          {mayDecide && (
            <>
              <Button icon="acknowledge" onClick={() => ask('CONFIRMED')}>
                {t('commands.CONFIRMED')}
              </Button>
              <Button icon="close" onClick={() => ask('REJECTED')}>
                {t('commands.REJECTED')}
              </Button>
              <Button icon="save" onClick={() => ask('archive')}>
                {t('commands.archive')}
              </Button>
            </>
          )}
          {mayDelete && (
            <Button kind="danger" icon="delete" onClick={() => ask('delete')}>
              {t('commands.delete')}
            </Button>
          )}
          <Button kind="quiet" onClick={leave}>
            {t('bulk.clear')}
          </Button>
        </div>
      )}
      {asks === 'REJECTED' && (
        <RejectDialog
          what={t('total', { count, n: n(count) })}
          onClose={() => setAsks(null)}
          onReject={(why) => start('REJECTED', why)}
        />
      )}
      <DeleteDialog
        open={asks === 'delete'}
        count={count}
        onClose={() => setAsks(null)}
        onDelete={() => start('delete')}
      />
    </section>
  );
}

interface DeleteDialogProps {
  readonly open: boolean;
  readonly count: number;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

/** Asks for confirmation before events are deleted, which cannot be undone. */
function DeleteDialog({ open, count, onClose, onDelete }: DeleteDialogProps) {
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
