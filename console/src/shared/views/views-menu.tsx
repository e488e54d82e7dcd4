import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/load-code.ts';
import { Menu } from '../../ui/menu.tsx';
import { useShowView, useViews, viewOf } from './use-views.ts';

const useViewDialog = later(async () => (await import('./view-dialog.tsx')).ViewDialog);

/**
 * The menu of the saved views of a page: it applies them, and opens the dialogs that save the current one and manage
 * them, which are loaded then.
 */
export function ViewsMenu({ page }: { readonly page: string }) {
  const { t } = useTranslation('views');
  const all = useViews(page);
  const { views, defaultId } = all;
  const show = useShowView();
  const search = viewOf(useLocation().searchStr);
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
  const current = views.find((view) => viewOf(view.search) === search);
  const ViewDialog = useViewDialog(dialog !== null);
  return (
    <>
      <Menu
        trigger={
          <Button icon="save" aria-label={current ? t('current', { name: current.name }) : t('views')}>
            <bdi className="one-line max-w-40">{current?.name ?? t('views')}</bdi>
          </Button>
        }
        items={[
          ...views.map((view) => ({
            label: (
              <>
                <bdi>{view.name}</bdi>
                <span className="ms-2 text-sm text-muted">
                  {view.id === defaultId ? t('default') : view.shared ? t('shared') : ''}
                </span>
              </>
            ),
            checked: view === current,
            onSelect: () => show(view),
          })),
          ...(views.length > 0 ? (['line'] as const) : []),
          {
            label: t('save'),
            icon: 'add' as const,
            disabled: search === '',
            onSelect: () => setDialog('save'),
          },
          {
            label: t('manage'),
            icon: 'edit' as const,
            disabled: views.length === 0,
            onSelect: () => setDialog('manage'),
          },
        ]}
      />
      {dialog && ViewDialog && <ViewDialog {...{ dialog, all, search }} onClose={() => setDialog(null)} />}
    </>
  );
}
