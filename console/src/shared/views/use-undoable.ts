import type { SavedView, UpdateViewInput } from '@gantry/contract/views';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { UNDO_MS, useNotices } from '../notices/notices.tsx';
import { api } from '../service/service.ts';
import { useUser } from '../session/session.ts';
import type { useViews } from './use-views.ts';

/** The latest change of a view, and how to undo it. */
interface Offer {
  readonly text: string;
  readonly undo: () => Promise<void>;
}

/**
 * Changes of saved views that can be undone for `UNDO_MS`: in the dialog, which covers the notices, or by the notice
 * once the dialog is closed.
 */
export function useUndoable({ update, remove, reload }: ReturnType<typeof useViews>) {
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
