import type { CaseDetail } from '@gantry/contract/cases';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { base64Of } from '../../shared/service/files.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

/** The roles of images that people add. */
const ROLES = ['CONTEXT', 'OVERVIEW', 'PLATE', 'FIRST', 'SECOND'] as const;

interface AddDialogProps {
  readonly what: 'note' | 'image';
  readonly of: CaseDetail;
  readonly onClose: () => void;
}

/** Adds a note or an image to a case. */
export function AddDialog({ what, of, onClose }: AddDialogProps) {
  const { t } = useTranslation('cases');
  const [file, setFile] = useState<File | null>(null);
  const form = useForm({
    keep: `case ${of.id} ${what}`,
    read: (entered) => ({
      text: entered.text('text'),
      role: entered.text('role') as (typeof ROLES)[number],
    }),
    save: async ({ text, role }) =>
      api.cases.addItem.mutate(
        what === 'note' || !file
          ? { id: of.id, role: 'NOTE', text }
          : { id: of.id, role, image: await base64Of(file) },
      ),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: service.cases.pathKey() });
      onClose();
    },
  });
  const title = t(what === 'note' ? 'items.addNote' : 'items.addImage');
  return (
    <FormDialog title={title} form={form} onClose={onClose}>
      {what === 'note' ? (
        <Field
          label={t('fields.note')}
          name="text"
          lines={4}
          maxLength={4000}
          required
          autoFocus
          error={form.errorOf('text')}
        />
      ) : (
        <>
          <label className="flex flex-col gap-1">
            <span className="text-sm text-muted">{t('items.file')}</span>
            <input
              type="file"
              name="image"
              required
              accept="image/jpeg,image/png,image/webp"
              onChange={({ target }) => setFile(target.files?.[0] ?? null)}
            />
          </label>
          {form.errorOf('image') && <p className="text-sm text-critical">{form.errorOf('image')}</p>}
          <ChoiceField
            label={t('fields.role')}
            name="role"
            defaultValue="CONTEXT"
            options={ROLES.map((value) => ({ value, label: t(`roles.${value}`) }))}
          />
        </>
      )}
    </FormDialog>
  );
}
