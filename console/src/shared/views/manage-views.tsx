import type { SavedView, UpdateViewInput } from '@gantry/contract/views';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { UNDO_MS, useNotices } from '../notices/notices.tsx';
import { Failure } from '../service/failure.tsx';
import { api } from '../service/service.ts';
import { useMay, useUser } from '../session/session.ts';
import type { useViews } from './use-views.ts';

interface ManageViewsProps {
  readonly all: ReturnType<typeof useViews>;
  /** The query string of the current page, as it would be saved in a view. */
  readonly search: string;
  readonly onClose: () => void;
}

/** The dialog to rename, replace, share and delete views, and to choose the default view for all users. */
export function ManageViews({ all, search, onClose }: ManageViewsProps) {
  const { t } = useTranslation(['views', 'common']);
  const { views, update, remove, setDefault } = all;
  const undoable = useUndoable(all);
  const error = update.error ?? remove.error ?? setDefault.error;
  return (
    <Dialog title={t('manageTitle')} open onClose={onClose} width="wide">
      {error && <Failure error={error} />}
      <div role="status">
        {undoable.latest && (
          <p className="flex items-center gap-3 rounded-md border py-1 ps-3 pe-1">
            <bdi className="line-clamp-2 grow">{undoable.latest.text}</bdi>
            <Button kind="quiet" icon="undo" onClick={undoable.latest.undo}>
              {t('common:undo.undo')}
            </Button>
          </p>
        )}
      </div>
      <ul className="flex flex-col divide-y">
        {views.map((view) => (
          <ViewRow
            key={`${view.id} ${view.name}`}
            view={view}
            all={all}
            undoable={undoable}
            search={search}
          />
        ))}
      </ul>
      {views.length === 0 && <p className="text-muted">{t('none')}</p>}
    </Dialog>
  );
}

interface ViewRowProps {
  readonly view: SavedView;
  readonly all: ManageViewsProps['all'];
  readonly undoable: ReturnType<typeof useUndoable>;
  readonly search: string;
}

function ViewRow({ view, all, undoable, search }: ViewRowProps) {
  const { t } = useTranslation('views');
  const user = useUser();
  const isAdmin = useMay('systemSettings');
  const [name, setName] = useState(view.name);
  const isOwn = view.createdBy.id === user.id;
  const isDefault = view.id === all.defaultId;
  const rename = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && name.trim() !== view.name) undoable.update(view, { name: name.trim() });
  };
  return (
    <li className="flex flex-wrap items-center gap-2 py-2">
      {isOwn ? (
        <form onSubmit={rename} className="flex min-w-48 grow items-center gap-2">
          <Field
            label={t('name')}
            hideLabel
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.target.value)}
            className="grow"
          />
          {name.trim() !== view.name && <Button type="submit">{t('rename')}</Button>}
        </form>
      ) : (
        <p className="min-w-48 grow">
          <bdi>{view.name}</bdi>{' '}
          <span className="text-sm text-muted">
            {t('of')} <bdi>{view.createdBy.name}</bdi>
          </span>
        </p>
      )}
      {isOwn && search !== '' && search !== view.search && (
        <Button kind="quiet" onClick={() => undoable.update(view, { search })}>
          {t('replace')}
        </Button>
      )}
      {isOwn && user.role !== 'VIEWER' && (
        <Button
          kind="quiet"
          aria-pressed={view.shared}
          disabled={isDefault}
          onClick={() => undoable.update(view, { shared: !view.shared })}
        >
          {t(view.shared ? 'unshare' : 'shareIt')}
        </Button>
      )}
      {isAdmin && view.shared && (
        <Button
          kind="quiet"
          aria-pressed={isDefault}
          onClick={() => all.setDefault.mutate(isDefault ? null : view.id)}
        >
          {t(isDefault ? 'noDefault' : 'makeDefault')}
        </Button>
      )}
      {(isOwn || (isAdmin && view.shared)) && (!isDefault || isAdmin) && (
        <Button
          kind="quiet"
          icon="delete"
          iconOnly
          aria-label={t('delete', { name: view.name })}
          onClick={() => undoable.remove(view, isDefault)}
        />
      )}
    </li>
  );
}

/** The latest change of a view, and how to undo it. */
interface Offer {
  readonly text: string;
  readonly undo: () => Promise<void>;
}

/**
 * Changes of saved views that can be undone for `UNDO_MS`: in the dialog, which covers the notices, or by the notice
 * once the dialog is closed.
 */
function useUndoable({ update, remove, reload }: ReturnType<typeof useViews>) {
  const { t } = useTranslation('views');
  const { say, offerUndo, sayFailure } = useNotices();
  const user = useUser();
  const [latest, setLatest] = useState<Offer | null>(null);
  useEffect(() => {
    if (!latest) return;
    const timer = setTimeout(() => setLatest(null), UNDO_MS);
    return () => clearTimeout(timer);
  }, [latest]);

  const offer = (text: string, act: () => Promise<unknown>) => {
    let undone: Promise<void> | null = null;
    const undo = () => {
      undone ??= act().then(async () => {
        await reload();
      });
      return undone;
    };
    setLatest({ text, undo });
    offerUndo(text, undo);
  };
  return {
    latest: latest && {
      text: latest.text,
      undo: () => {
        setLatest(null);
        void latest.undo().catch(sayFailure);
      },
    },
    /** Updates fields of a view. Undo restores their previous values. */
    update(view: SavedView, changes: Omit<UpdateViewInput, 'id'>) {
      const names = Object.keys(changes) as (keyof typeof changes)[];
      const before = Object.fromEntries(names.map((name) => [name, view[name]]));
      update.mutate(
        { id: view.id, ...changes },
        {
          onSuccess: ({ name }) =>
            offer(t('said.changed', { name }), () => api.views.update.mutate({ id: view.id, ...before })),
        },
      );
    },
    /** Deletes a view. Undo creates it again, which is offered only to its author. */
    remove(view: SavedView, isDefault: boolean) {
      const { id, page, name, search, shared } = view;
      remove.mutate(id, {
        onSuccess: () => {
          if (view.createdBy.id !== user.id) return say(t('said.deleted', { name }));
          offer(t('said.deleted', { name }), async () => {
            const created = await api.views.create.mutate({ page, name, search, shared });
            if (isDefault) await api.views.setDefault.mutate({ page, id: created.id });
          });
        },
      });
    },
  };
}
