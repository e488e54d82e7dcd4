import { noteAudiences, situationReportKinds } from '@gantry/contract/incident-states';
import type { NoteAudience } from '@gantry/contract/incident-work';
import type { Incident } from '@gantry/contract/incidents';
import type { ReportPreview, SituationReport } from '@gantry/contract/situation-reports';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { downloadFile } from '../../shared/service/files.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ChoiceField, Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { MessageFields } from './message-fields.tsx';
import { useRefreshIncidents } from './use-actions.ts';

/** While the file of a report is made or sent, the list is read again, in milliseconds. */
const POLL_MS = 2_000;

const isUnderWay = ({ status, recipients }: SituationReport): boolean =>
  status === 'QUEUED' || status === 'RUNNING' || recipients.some((each) => each.status === 'PENDING');

/** The situation reports of an incident: number, for whom, to whom it was sent, and the file. */
export function SituationReports({ incident: { id } }: { readonly incident: Incident }) {
  const { t } = useTranslation('incidents');
  const mayRead = useMay('viewReports');
  const { sayFailure } = useNotices();
  const { data } = useQuery({
    ...service.incidents.getReports.queryOptions({ id }),
    refetchInterval: ({ state }) => (state.data?.reports.some(isUnderWay) ? POLL_MS : false),
  });
  if (!data || data.reports.length === 0) return null;
  const download = (url: string, number: number) =>
    void downloadFile(url, `situation-report-${number}.pdf`).catch(sayFailure);
  return (
    <Panel title={t('report.reports')} isFull>
      <ul>
        {data.reports.map((report) => (
          <li key={report.id} className="flex flex-col gap-1 border-b px-3 py-2 last:border-b-0">
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">
                {t('report.numbered', { n: report.number, kind: t(`report.kinds.${report.kind}`) })}
              </span>
              <span className="text-sm text-muted">{t(`report.audiences.${report.audience}`)}</span>
              {mayRead && report.url !== null && (
                <Button
                  kind="quiet"
                  icon="download"
                  iconOnly
                  className="ms-auto"
                  aria-label={t('report.download', { n: report.number })}
                  onClick={() => report.url !== null && download(report.url, report.number)}
                />
              )}
            </p>
            <p className="text-sm text-muted">
              <bdi>{report.createdBy?.name}</bdi> <Moment at={report.createdAt} />
            </p>
            {report.error !== null && <p className="text-sm text-critical">{report.error}</p>}
            {report.recipients.map(({ email, status, error }) => (
              <p key={email} className="flex flex-wrap items-center gap-x-2 text-sm">
                <bdi dir="ltr">{email}</bdi>
                <Badge
                  tone={status === 'FAILED' ? 'critical' : 'calm'}
                  icon={status === 'SENT' ? 'good' : status === 'FAILED' ? 'failure' : 'time'}
                >
                  {t(`report.sent.${status}`)}
                </Badge>
                {error !== null && <bdi className="text-critical">{error}</bdi>}
              </p>
            ))}
            {report.sha256 !== null && (
              <p className="text-xs text-muted">
                SHA-256{' '}
                <bdi dir="ltr" className="font-mono wrap-anywhere">
                  {report.sha256}
                </bdi>
              </p>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface ReportDialogProps {
  readonly incident: Incident;
  readonly onClose: () => void;
}

/** Makes a situation report after the message, and to whom it goes, was seen. */
export function ReportDialog({ incident, onClose }: ReportDialogProps) {
  const { t } = useTranslation('incidents');
  const [audience, setAudience] = useState<NoteAudience>('PARTNERS');
  const { data, error } = useQuery({
    ...service.incidents.getReportPreview.queryOptions({ id: incident.id, audience }),
    placeholderData: (before) => before,
    retry: false,
  });
  if (data)
    return <ReportForm {...{ incident, onClose, audience }} preview={data} onAudience={setAudience} />;
  return (
    <Dialog title={t('report.make')} open onClose={onClose}>
      {error ? <Failure error={error} /> : <Skeleton rows={3} />}
    </Dialog>
  );
}

interface ReportFormProps extends ReportDialogProps {
  readonly preview: ReportPreview;
  readonly audience: NoteAudience;
  readonly onAudience: (audience: NoteAudience) => void;
}

function ReportForm({ incident, preview, audience, onAudience, onClose }: ReportFormProps) {
  const { t } = useTranslation('incidents');
  const { say } = useNotices();
  const refresh = useRefreshIncidents();
  const [first] = useState(preview);
  const [to, setTo] = useState(first.canSend ? first.recipients.map(({ email }) => email).join(', ') : '');
  const isSent = to.trim() !== '' && audience !== 'INTERNAL';
  const form = useForm({
    keep: null,
    read: (entered) => ({
      ...{ id: incident.id, audience, expectedNumber: preview.number },
      kind: entered.text('kind') as SituationReport['kind'],
      to: isSent ? to.split(/[\s,;،]+/).filter((each) => each !== '') : [],
      ...(isSent && { subject: entered.text('subject'), text: entered.text('text') }),
    }),
    save: (input) => api.incidents.makeReport.mutate(input),
    onSuccess: () => {
      say(t(isSent ? 'report.sending' : 'report.making'));
      void refresh();
      onClose();
    },
  });
  const { number, shownNotes, hiddenNotes } = preview;
  return (
    <FormDialog
      title={t('report.titleOf', { n: number })}
      form={form}
      onClose={onClose}
      action={t(isSent ? 'report.send' : 'report.only')}
      width="wide"
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <ChoiceField
          label={t('report.kind')}
          name="kind"
          defaultValue={first.kind}
          options={situationReportKinds.map((value) => ({ value, label: t(`report.kinds.${value}`) }))}
        />
        <Select
          label={t('report.audience')}
          value={audience}
          options={noteAudiences.map((value) => ({ value, label: t(`report.audiences.${value}`) }))}
          onChange={onAudience}
          error={form.errorOf('audience')}
        />
      </div>
      <p className="text-sm text-muted">{t('report.notes', { shown: shownNotes, hidden: hiddenNotes })}</p>
      {audience === 'INTERNAL' ? (
        <p className="text-sm text-muted">{t('report.internalText')}</p>
      ) : (
        <Field
          label={t('report.to')}
          name="to"
          dir="ltr"
          value={to}
          onChange={({ target }) => setTo(target.value)}
          hint={first.canSend ? t('report.toHint') : t('report.noMail')}
          error={form.errorOf('to') ?? form.errorOf('to.0')}
        />
      )}
      {isSent && <MessageFields message={first} errorOf={form.errorOf} />}
    </FormDialog>
  );
}
