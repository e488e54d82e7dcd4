import type { Certificate, CertificateKind } from '@gantry/contract/certificates';
import { DAY_MS } from '@gantry/contract/durations';
import { certificateKinds } from '@gantry/contract/values';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { base64Of } from '../../../shared/service/files.ts';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';

/** What a certificate attests also decides about cases and alarms. */
const readAgain = () => {
  void queryClient.invalidateQueries({ queryKey: service.certificates.pathKey() });
  void queryClient.invalidateQueries({ queryKey: service.cases.pathKey() });
};

/** The day after a day, at whose start the validity ends; what is no day, as it was entered. */
function dayAfter(day: string): string {
  const start = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(start) ? day : new Date(start + DAY_MS).toISOString().slice(0, 10);
}

function read(entered: Entered, sensorId: string, kind: CertificateKind) {
  const [fixedKmh, percent] = [
    entered.numberOrNull('tolerance.fixedKmh'),
    entered.numberOrNull('tolerance.percent'),
  ];
  return {
    sensorId,
    kind,
    number: entered.text('number'),
    issuer: entered.textOrNull('issuer'),
    validFrom: entered.text('validFrom'),
    validUntil: dayAfter(entered.text('validUntil')),
    note: entered.textOrNull('note'),
    ...(kind === 'CALIBRATION' &&
      (fixedKmh !== null || percent !== null) && {
        tolerance: {
          ...(fixedKmh !== null && { fixedKmh }),
          ...(percent !== null && { percent }),
          roundDown: entered.checked('tolerance.roundDown'),
        },
      }),
  };
}

interface AddProps {
  readonly sensorId: string;
  readonly onClose: () => void;
}

/** Adds a certificate to a sensor, with its file. */
export function AddCertificateDialog({ sensorId, onClose }: AddProps) {
  const { t } = useTranslation('certificates');
  const [kind, setKind] = useState<CertificateKind>('CALIBRATION');
  const [file, setFile] = useState<File | null>(null);
  const form = useForm({
    keep: `certificate of ${sensorId}`,
    read: (entered) => read(entered, sensorId, kind),
    save: async (input) =>
      api.certificates.add.mutate({
        ...input,
        ...(file && { file: await base64Of(file), fileName: file.name }),
      }),
    onSuccess: () => {
      readAgain();
      onClose();
    },
  });
  const { errorOf } = form;
  return (
    <FormDialog title={t('addTitle')} form={form} onClose={onClose}>
      <Select
        label={t('fields.kind')}
        name="kind"
        value={kind}
        options={certificateKinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        onChange={setKind}
        error={errorOf('kind')}
        autoFocus
      />
      <Field label={t('fields.number')} name="number" maxLength={100} required error={errorOf('number')} />
      <Field label={t('fields.issuer')} name="issuer" maxLength={200} error={errorOf('issuer')} />
      <div className="grid gap-3 sm:grid-cols-2">
        <FormDateField label={t('fields.validFrom')} name="validFrom" required error={errorOf('validFrom')} />
        <FormDateField
          label={t('fields.validUntil')}
          name="validUntil"
          required
          error={errorOf('validUntil')}
        />
      </div>
      {kind === 'CALIBRATION' && <ToleranceFields errorOf={errorOf} />}
      <label className="flex flex-col gap-1">
        <span className="text-sm text-muted">{t('fields.file')}</span>
        <input
          type="file"
          name="file"
          accept="application/pdf,image/jpeg,image/png,image/webp"
          onChange={({ target }) => setFile(target.files?.[0] ?? null)}
        />
      </label>
      {errorOf('file') !== undefined && <p className="text-sm text-critical">{errorOf('file')}</p>}
      <Field label={t('fields.note')} name="note" lines={2} maxLength={1000} error={errorOf('note')} />
    </FormDialog>
  );
}

function ToleranceFields({ errorOf }: { readonly errorOf: (path: string) => string | undefined }) {
  const { t } = useTranslation('certificates');
  return (
    <fieldset className="flex flex-col gap-2 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{t('fields.tolerance')}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {(['fixedKmh', 'percent'] as const).map((name) => (
          <Field
            key={name}
            label={t(`fields.${name}`)}
            name={`tolerance.${name}`}
            inputMode="decimal"
            dir="ltr"
            error={errorOf(`tolerance.${name}`)}
          />
        ))}
      </div>
      <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" name="tolerance.roundDown" className="size-4 accent-accent" />
        {t('fields.roundDown')}
      </label>
      <p className="text-sm text-muted">{errorOf('tolerance') ?? t('toleranceHint')}</p>
    </fieldset>
  );
}

interface WithdrawProps {
  readonly of: Certificate;
  readonly onClose: () => void;
}

/** Withdraws a certificate, which stays in the list. */
export function WithdrawDialog({ of, onClose }: WithdrawProps) {
  const { t } = useTranslation('certificates');
  const form = useForm({
    keep: `withdraw ${of.id}`,
    read: (entered) => ({ id: of.id, reason: entered.text('reason') }),
    save: (input) => api.certificates.withdraw.mutate(input),
    onSuccess: () => {
      readAgain();
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('withdrawOne', { number: of.number })}
      form={form}
      onClose={onClose}
      action={t('withdraw')}
    >
      <p>{t('withdrawText')}</p>
      <Field
        label={t('fields.reason')}
        name="reason"
        lines={2}
        maxLength={500}
        required
        autoFocus
        error={form.errorOf('reason')}
      />
    </FormDialog>
  );
}
