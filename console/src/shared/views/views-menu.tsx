import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useForm } from '../form/form.ts';
import { FormDialog } from '../form/form-dialog.tsx';
import { useUser } from '../session/session.ts';
import { ManageViews } from './manage-views.tsx';
import { useShowView, useViews, viewOf } from './use-views.ts';

/** The menu of the saved views of a page: it applies them, saves the current one, and opens `ManageViews`. */
export function ViewsMenu({ page }: { readonly page: string }) {
  const { t } = useTranslation('views');
  const all = useViews(page);
  const { views, defaultId } = all;
  const show = useShowView();
  const search = viewOf(useLocation().searchStr);
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null);
  const current = views.find((view) => viewOf(view.search) === search);
  const close = () => setDialog(null);
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
      {dialog === 'save' && <SaveView search={search} create={all.create} onClose={close} />}
      {dialog === 'manage' && <ManageViews all={all} search={search} onClose={close} />}
    </>
  );
}

interface SaveViewProps {
  readonly search: string;
  readonly create: ReturnType<typeof useViews>['create'];
  readonly onClose: () => void;
}

/** The dialog that saves the current query parameters as a named view. */
function SaveView({ search, create, onClose }: SaveViewProps) {
  const { t } = useTranslation('views');
  const mayShare = useUser().role !== 'VIEWER';
  const form = useForm({
    keep: 'new view',
    read: (entered) => ({ name: entered.text('name'), search, shared: entered.checked('shared') }),
    save: (input) => create.mutateAsync(input),
    onSuccess: onClose,
  });
  return (
    <FormDialog title={t('saveTitle')} form={form} onClose={onClose} action={t('saveIt')}>
      <Field label={t('name')} name="name" error={form.errorOf('name')} maxLength={100} autoFocus required />
      {mayShare && (
        <label className="flex items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" name="shared" className="size-4 accent-accent" />
          {t('share')}
        </label>
      )}
    </FormDialog>
  );
}
