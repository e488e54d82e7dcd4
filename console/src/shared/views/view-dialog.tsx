import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { useForm } from '../form/form.ts';
import { FormDialog } from '../form/form-dialog.tsx';
import { useUser } from '../session/session.ts';
import { ManageViews } from './manage-views.tsx';
import type { useViews } from './use-views.ts';

interface ViewDialogProps {
  readonly dialog: 'save' | 'manage';
  readonly all: ReturnType<typeof useViews>;
  /** The query string of the current page, as it would be saved in a view. */
  readonly search: string;
  readonly onClose: () => void;
}

/** The dialogs of `ViewsMenu`, in a module that is loaded later. */
export function ViewDialog({ dialog, all, search, onClose }: ViewDialogProps) {
  return dialog === 'save' ? (
    <SaveView search={search} create={all.create} onClose={onClose} />
  ) : (
    <ManageViews all={all} search={search} onClose={onClose} />
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
