import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ConfirmDialog } from '../form/form-dialog.tsx';
import { Failure } from '../service/failure.tsx';
import { PageHeader } from './page-header.tsx';

interface LoadedProps<Resource> {
  readonly query: {
    readonly data: Resource | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly children: (resource: Resource) => ReactNode;
}

/** Renders the result of a query: placeholders until it is loaded, or why it could not be loaded. */
export function Loaded<Resource>({ query: { data, error, refetch }, children }: LoadedProps<Resource>) {
  if (data !== undefined) return children(data);
  if (!error) return <Skeleton rows={8} />;
  return (
    <div className="p-4">
      <Failure error={error} onRetry={() => void refetch()} />
    </div>
  );
}

interface ResourcePageProps {
  readonly name: string;
  /** The `BackLink` to the list. */
  readonly back: ReactNode;
  /** Shown next to the name, such as the status. */
  readonly note?: ReactNode;
  /** The buttons of the page. */
  readonly commands: ReactNode;
  /** The panels of the wide column. */
  readonly main: ReactNode;
  /** The panels of the narrow column, which is below the other one on a small screen. */
  readonly side: ReactNode;
}

/** The page of one object: its name with a link back to the list, its commands, and two columns of panels. */
export function ResourcePage({ name, back, note, commands, main, side }: ResourcePageProps) {
  return (
    <>
      <PageHeader subject={name} title={<NameWithBack name={name} back={back} />} note={note}>
        {commands}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid items-start gap-3 lg:grid-cols-[3fr_2fr]">
          <div className="grid min-w-0 gap-3">{main}</div>
          <div className="grid min-w-0 gap-3">{side}</div>
        </div>
      </div>
    </>
  );
}

/** The title of a page that shows one object: its name after the link back to the list. */
export function NameWithBack({ name, back }: Pick<ResourcePageProps, 'name' | 'back'>) {
  return (
    <>
      {back}
      <bdi className="line-clamp-2 inline">{name}</bdi>
    </>
  );
}

interface EditAndDeleteProps {
  readonly name: string;
  readonly texts: {
    readonly edit: string;
    /** The description of the shortcut. */
    readonly editTitle: string;
    readonly deleteTitle: string;
    /** What deleting causes. */
    readonly deleteText: string;
  };
  readonly editDialog: (close: () => void) => ReactNode;
  readonly remove: () => Promise<unknown>;
  readonly onRemoved: () => void;
}

/** The buttons that edit an object and that delete it after a confirmation. `e` edits it. */
export function EditAndDelete({ name, texts, editDialog, remove, onRemoved }: EditAndDeleteProps) {
  const { t } = useTranslation('common');
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  const close = () => setAsked(null);
  useShortcuts([{ keys: 'e', label: texts.editTitle, scope: 'page', run: () => setAsked('edit') }]);
  return (
    <>
      <Button icon="edit" onClick={() => setAsked('edit')}>
        {texts.edit}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setAsked('delete')}>
        {t('dialog.delete')}
      </Button>
      {asked === 'edit' && editDialog(close)}
      {asked === 'delete' && (
        <ConfirmDialog
          title={texts.deleteTitle}
          action={t('dialog.delete')}
          run={remove}
          onDone={onRemoved}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{name}</bdi>
          </p>
          <p>{texts.deleteText}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
