import type { CreateScheduleInput, ReportSchedule } from '@gantry/contract/reports';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../shared/form/form.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

type SendTo = ReportSchedule['sendTo'];

const languages = ['en', 'tr', 'ar'] as const;

/** Where reports are to be sent, as it was entered; users who were named otherwise stay. */
export function readSendTo(entered: Entered, before: SendTo): CreateScheduleInput['sendTo'] {
  const emails = entered
    .text('emails')
    .split(/[\s,;]+/)
    .filter((each) => each !== '')
    .map((each) => each.toLowerCase());
  const folder = entered.text('folder') || null;
  const userIds = before?.userIds ?? [];
  if (emails.length + userIds.length === 0 && folder === null) return null;
  const language = entered.text('language') as NonNullable<SendTo>['language'];
  return { emails, userIds, folder, withPlates: entered.checked('withPlates'), language };
}

interface SendToFieldsProps {
  readonly sendTo: SendTo;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields for where the reports of a schedule are sent. */
export function SendToFields({ sendTo, errorOf }: SendToFieldsProps) {
  const { t } = useTranslation('reports');
  const lines = Array.from({ length: 20 }, (_, at) => `sendTo.emails.${at}`);
  const errorOfEmails = ['sendTo.emails', ...lines, 'sendTo.userIds', 'sendTo'].map(errorOf).find(Boolean);
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{t('sendTo.title')}</legend>
      <Field
        label={t('sendTo.emails')}
        hint={t('sendTo.emailsHint')}
        name="emails"
        dir="ltr"
        lines={3}
        defaultValue={sendTo?.emails.join('\n')}
        error={errorOfEmails}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('sendTo.folder')}
          hint={<span dir="ltr">DATA_DIR/reports-out/…</span>}
          name="folder"
          maxLength={60}
          defaultValue={sendTo?.folder ?? ''}
          error={errorOf('sendTo.folder')}
        />
        <ChoiceField
          label={t('sendTo.language')}
          name="language"
          defaultValue={sendTo?.language ?? 'en'}
          options={languages.map((value) => ({ value, label: t(`sendTo.languages.${value}`) }))}
        />
      </div>
      <label className="flex min-h-8 items-start gap-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          name="withPlates"
          defaultChecked={sendTo?.withPlates ?? false}
          className="mt-1 size-4 accent-accent"
        />
        {t('sendTo.withPlates')}
      </label>
      {errorOf('sendTo.withPlates') !== undefined && (
        <p role="alert" className="text-sm text-critical">
          {errorOf('sendTo.withPlates')}
        </p>
      )}
    </fieldset>
  );
}

/** What became of sending the last report of a schedule: the worst of its recipients, with all of them as its title. */
export function LastSent({ last }: { readonly last: ReportSchedule['lastSent'] }) {
  const { t } = useTranslation('reports');
  if (last === null || last.recipients.length === 0) return null;
  const { recipients } = last;
  const some = (status: (typeof recipients)[number]['status']) =>
    recipients.find((each) => each.status === status);
  const failed = some('FAILED');
  const shown = failed ?? some('PENDING') ?? recipients[0];
  if (shown === undefined) return null;
  const tones = { FAILED: 'critical', PENDING: 'medium', SENT: 'low' } as const;
  return (
    <span className="flex flex-col gap-0.5" title={recipients.map(lineOf).join('\n')}>
      <Badge tone={tones[shown.status]} icon="none">
        {t(`sendTo.statuses.${shown.status}`)}
      </Badge>
      {shown.sentAt !== null && <Moment at={shown.sentAt} />}
      {shown.error !== null && (
        <bdi className="line-clamp-2 text-sm text-muted">
          {shown.recipient}: {shown.error}
        </bdi>
      )}
    </span>
  );
}

function lineOf({ recipient, error }: NonNullable<ReportSchedule['lastSent']>['recipients'][number]): string {
  return error === null ? recipient : `${recipient}: ${error}`;
}
