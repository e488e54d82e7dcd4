import type { CaseDetail, CaseRejectionCode } from '@gantry/contract/cases';
import { rejectionCodes } from '@gantry/contract/values';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Faster, isConflict } from '../../shared/conflict/faster.tsx';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { StepName } from './steps.ts';

/** Steps that nobody takes without saying why. */
const NEEDS_REASON: ReadonlySet<StepName> = new Set(['dispute', 'decide', 'unlock']);

type Decision = 'VERIFIED' | 'REJECTED';

function read(entered: Entered) {
  return {
    reason: entered.text('reason'),
    text: entered.text('text'),
    code: entered.text('code') as CaseRejectionCode,
    decision: entered.text('decision') as Decision,
    redacted: entered.text('redacted') === 'true',
  };
}

function take(name: StepName, of: CaseDetail, said: ReturnType<typeof read>): Promise<unknown> {
  const at = { id: of.id, expectedVersion: of.version };
  const { reason, text, code } = said;
  const why = { ...(reason && { reason }) };
  const because = { code, ...(text && { text }) };
  switch (name) {
    case 'check':
      return api.cases.check.mutate({ ...at, ...why });
    case 'verify':
      return api.cases.verify.mutate({ ...at, ...why });
    case 'close':
      return api.cases.close.mutate({ ...at, ...why });
    case 'dispute':
      return api.cases.dispute.mutate({ ...at, reason });
    case 'unlock':
      return api.cases.unlock.mutate({ ...at, reason });
    case 'reject':
      return api.cases.reject.mutate({ ...at, ...because });
    case 'decide':
      return api.cases.decide.mutate({
        ...at,
        reason,
        decision: said.decision,
        ...(said.decision === 'REJECTED' && because),
      });
    case 'export':
      return api.cases.export.mutate({ id: of.id, redacted: said.redacted });
  }
}

const readAgain = () => void queryClient.invalidateQueries({ queryKey: service.cases.pathKey() });

interface StepDialogProps {
  readonly name: StepName;
  readonly of: CaseDetail;
  readonly onClose: () => void;
}

/** Asks what a step needs to be known: a reason, a code, or the decision. */
export function StepDialog({ name, of, onClose }: StepDialogProps) {
  const { t } = useTranslation('cases');
  const { say } = useNotices();
  // The form is of the case as the user saw it; the page behind it follows changes of others.
  const [seen] = useState(of);
  const [decision, setDecision] = useState<Decision>('VERIFIED');
  const form = useForm({
    keep: `case ${of.id} ${name}`,
    read,
    // Also after a failure: if somebody else was faster, the page says who.
    save: (said) => take(name, seen, said).finally(readAgain),
    onSuccess: () => {
      say(t(`done.${name}`, { number: `\u2066${of.number}\u2069` }));
      onClose();
    },
  });
  const failed = seen.checks.filter(({ result }) => result === 'FAIL');
  const isChecked = name === 'check' || name === 'verify';
  const needsReason = NEEDS_REASON.has(name) || (isChecked && failed.length > 0);
  const hasCode = name === 'reject' || (name === 'decide' && decision === 'REJECTED');
  return (
    <FormDialog
      title={t(`steps.${name}`)}
      form={form}
      onClose={onClose}
      action={t(`steps.${name}`)}
      failure={form.failure && isConflict(form.failure) && <Faster error={form.failure} />}
    >
      <p>
        {t(name === 'close' && seen.lockedAt !== null ? 'stepTexts.closeExportable' : `stepTexts.${name}`)}
      </p>
      {isChecked && failed.length > 0 && (
        <p className="text-critical">
          {t('failedChecks')} {failed.map((check) => t(`checks.names.${check.name}`)).join(', ')}
        </p>
      )}
      {name === 'decide' && (
        <Select
          label={t('fields.decision')}
          name="decision"
          value={decision}
          options={(['VERIFIED', 'REJECTED'] as const).map((value) => ({
            value,
            label: t(`states.${value}`),
          }))}
          onChange={setDecision}
        />
      )}
      {hasCode && <CodeFields errorOf={form.errorOf} />}
      {name === 'export' && <PackageField />}
      {name !== 'reject' && name !== 'export' && (
        <Field
          label={t(needsReason ? 'fields.reason' : 'fields.reasonOptional')}
          name="reason"
          lines={2}
          maxLength={1000}
          required={needsReason}
          autoFocus
          error={form.errorOf('reason')}
        />
      )}
    </FormDialog>
  );
}

/** The code of a rejection, and its text, which only OTHER needs. */
function CodeFields({ errorOf }: { readonly errorOf: (path: string) => string | undefined }): ReactNode {
  const { t } = useTranslation('cases');
  const [code, setCode] = useState<CaseRejectionCode>('UNREADABLE');
  return (
    <>
      <Select
        label={t('fields.code')}
        name="code"
        value={code}
        options={rejectionCodes.map((value) => ({ value, label: t(`codes.${value}`) }))}
        onChange={setCode}
        error={errorOf('code')}
        autoFocus
      />
      <Field
        label={t(code === 'OTHER' ? 'fields.text' : 'fields.textOptional')}
        name="text"
        lines={2}
        maxLength={1000}
        required={code === 'OTHER'}
        error={errorOf('text')}
      />
    </>
  );
}

/** Whether the package is for a court, or for others, who see only copies of what is made unrecognisable. */
function PackageField() {
  const { t } = useTranslation('cases');
  const [value, setValue] = useState('false');
  return (
    <Select
      label={t('fields.package')}
      name="redacted"
      value={value}
      options={[
        { value: 'false', label: t('packages.court') },
        { value: 'true', label: t('packages.redacted') },
      ]}
      onChange={setValue}
      autoFocus
    />
  );
}
