import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { PlateReasonFields, readPlateReason } from '../../shared/service/plates.tsx';
import { api } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';

const read = (entered: Entered) => ({
  plate: entered.text('plate'),
  ...readPlateReason(entered),
});

/** Looks a plate up in all hotlists that the user sees. The search is recorded, so it starts when the user asks for it. */
export function PlateLookUp({ plate, onClose }: { readonly plate: string; readonly onClose: () => void }) {
  const { t } = useTranslation('hotlists');
  const form = useForm({
    keep: null,
    read,
    save: (input) => api.hotlists.findEntries.query({ ...input, take: 100 }),
  });
  const entries = form.result?.entries;
  return (
    <FormDialog
      title={t('lookUp.title')}
      form={form}
      onClose={onClose}
      action={t('lookUp.action')}
      width="wide"
    >
      <Field
        label={t('fields.plate')}
        name="plate"
        defaultValue={plate}
        error={form.errorOf('plate')}
        maxLength={50}
        required
      />
      <PlateReasonFields errorOf={form.errorOf} />
      <div role="status">
        {entries?.length === 0 && t('lookUp.none')}
        {entries && entries.length > 0 && (
          <ul className="flex flex-col gap-1">
            {entries.map(({ id, hotlistId, hotlistName, plate: listed, reason }) => (
              <li key={`${hotlistId} ${id}`} className="flex flex-wrap items-baseline gap-x-2">
                <bdi className="font-medium">{listed}</bdi>
                <Link
                  to="/hotlists/$hotlistId"
                  params={{ hotlistId }}
                  search={{}}
                  className="text-accent underline"
                >
                  <bdi>{hotlistName}</bdi>
                </Link>
                <bdi className="text-muted">{reason}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
    </FormDialog>
  );
}
