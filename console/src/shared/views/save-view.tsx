import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { useKept } from '../form/use-kept.ts';
import { Failure } from '../service/failure.tsx';
import { useUser } from '../session/session.ts';
import type { useViews } from './use-views.ts';

interface SaveViewProps {
  readonly search: string;
  readonly create: ReturnType<typeof useViews>['create'];
  readonly onClose: () => void;
}

/** The dialog that saves the current query parameters as a named view. */
export function SaveView({ search, create, onClose }: SaveViewProps) {
  const { t } = useTranslation('views');
  const mayShare = useUser().role !== 'VIEWER';
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const kept = useKept('new view');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name, search, shared }, { onSuccess: onClose });
  };
  return (
    <Dialog title={t('saveTitle')} open onClose={onClose}>
      <form ref={kept.ref} onSubmit={submit} className="flex flex-col gap-3">
        <Field
          label={t('name')}
          name="name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          maxLength={100}
          autoFocus
          required
        />
        {mayShare && (
          <label className="flex items-center gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              name="shared"
              checked={shared}
              onChange={(event) => setShared(event.target.checked)}
              className="size-4 accent-accent"
            />
            {t('share')}
          </label>
        )}
        {create.error && <Failure error={create.error} />}
        <Button kind="primary" type="submit" disabled={!name.trim() || create.isPending}>
          {t('saveIt')}
        </Button>
      </form>
    </Dialog>
  );
}
