import type { Study } from '@gantry/contract/studies';
import { reportFormats } from '@gantry/contract/values';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../../shared/form/form.ts';
import { ConfirmDialog, FormDialog } from '../../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../../shared/notices/notices.tsx';
import { downloadReport } from '../../../../shared/service/report-file.ts';
import { api, service } from '../../../../shared/service/service.ts';
import { useMay, useUser } from '../../../../shared/session/session.ts';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Panel } from '../../../../ui/panel.tsx';

interface StudyProps {
  readonly study: Study;
}

/** What may be done to a study now, and by whom. Who may not sign it is told why. */
export function StudyCommands({ study }: StudyProps) {
  const { t } = useTranslation('studies');
  const { t: common } = useTranslation('common');
  const [asked, setAsked] = useState<'freeze' | 'sign' | 'reject' | 'delete' | null>(null);
  const [mayWork, mayManage] = [useMay('generateReports'), useMay('manageReports')];
  const user = useUser();
  const { status, author, frozenBy } = study;
  const isOwn = author.id === user.id;
  const mayChange = mayManage || (mayWork && isOwn);
  const mayNotSign = isOwn || frozenBy?.id === user.id;
  if (!mayWork) return null;
  return (
    <>
      {status === 'FROZEN' && mayNotSign && (
        <p className="text-sm text-muted">{t(isOwn ? 'signing.sign.own' : 'signing.sign.frozenByYou')}</p>
      )}
      {status === 'DRAFT' && mayChange && (
        <Button kind="primary" icon="hold" onClick={() => setAsked('freeze')}>
          {t('signing.freeze.action')}
        </Button>
      )}
      {status === 'FROZEN' && !mayNotSign && (
        <Button kind="primary" icon="good" onClick={() => setAsked('sign')}>
          {t('signing.sign.action')}
        </Button>
      )}
      {status === 'FROZEN' && (
        <Button icon="close" onClick={() => setAsked('reject')}>
          {t(isOwn ? 'signing.reject.withdraw' : 'signing.reject.action')}
        </Button>
      )}
      {(status === 'DRAFT' || status === 'REJECTED') && mayChange && (
        <Button kind="danger" icon="delete" onClick={() => setAsked('delete')}>
          {common('dialog.delete')}
        </Button>
      )}
      {asked === 'freeze' && (
        <Ask {...{ study }} what="freeze" run={api.studies.freeze.mutate} onClose={() => setAsked(null)} />
      )}
      {asked === 'sign' && (
        <Ask {...{ study }} what="sign" run={api.studies.sign.mutate} onClose={() => setAsked(null)}>
          <p>
            {t('signing.sign.as')} <bdi className="font-semibold">{`${user.firstName} ${user.lastName}`}</bdi>
          </p>
        </Ask>
      )}
      {asked === 'delete' && (
        <Ask {...{ study }} what="delete" run={api.studies.delete.mutate} onClose={() => setAsked(null)} />
      )}
      {asked === 'reject' && <RejectDialog study={study} onClose={() => setAsked(null)} />}
    </>
  );
}

interface AskProps extends StudyProps {
  readonly what: 'freeze' | 'sign' | 'delete';
  readonly run: (input: { id: string }) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks before a step that cannot be taken back, and says afterwards that it was taken. */
function Ask({ study: { id, title }, what, run, onClose, children }: AskProps) {
  const { t } = useTranslation('studies');
  const { t: common } = useTranslation('common');
  const { say } = useNotices();
  const navigate = useNavigate();
  const readAgain = useReadAgain();
  return (
    <ConfirmDialog
      title={t(`signing.${what}.title`)}
      action={what === 'delete' ? common('dialog.delete') : t(`signing.${what}.action`)}
      run={() => run({ id })}
      onDone={() => {
        onClose();
        say(t(`signing.${what}.done`));
        if (what === 'delete') void navigate({ to: '/traffic/studies', search: {} });
        void readAgain(what === 'delete');
      }}
      onClose={onClose}
    >
      <p>
        <bdi className="font-semibold">{title}</bdi>
      </p>
      <p>{t(`signing.${what}.text`)}</p>
      {children}
    </ConfirmDialog>
  );
}

/** Reads the list again and, unless it is gone, the study. */
function useReadAgain() {
  const client = useQueryClient();
  return async (isGone = false) => {
    await client.invalidateQueries({ queryKey: service.studies.list.pathKey() });
    if (!isGone) await client.invalidateQueries({ queryKey: service.studies.get.pathKey() });
  };
}

function RejectDialog({ study: { id, title }, onClose }: StudyProps & { readonly onClose: () => void }) {
  const { t } = useTranslation('studies');
  const { say } = useNotices();
  const readAgain = useReadAgain();
  const form = useForm({
    keep: `reject study ${id}`,
    read: (entered) => ({ id, reason: entered.text('reason') }),
    save: (input) => api.studies.reject.mutate(input),
    onSuccess: () => {
      onClose();
      say(t('signing.reject.done'));
      void readAgain();
    },
  });
  return (
    <FormDialog
      title={t('signing.reject.title')}
      form={form}
      onClose={onClose}
      action={t('signing.reject.action')}
    >
      <p>
        <bdi className="font-semibold">{title}</bdi>
      </p>
      <p>{t('signing.reject.text')}</p>
      <Field
        label={t('signing.fields.reason')}
        name="reason"
        lines={3}
        maxLength={2000}
        error={form.errorOf('reason')}
        required
      />
    </FormDialog>
  );
}

/** The documents of a study: a printed one, a workbook with its methods, and the data of its hash. */
export function StudyFiles({ study: { id } }: StudyProps) {
  const { t } = useTranslation('studies');
  const { sayFailure } = useNotices();
  const save = useMutation({
    mutationFn: async (format: (typeof reportFormats)[number]) =>
      downloadReport(
        await api.studies.export.mutate({ id, format }),
        `study.${format.toLowerCase()}`,
        t('signing.files.failed'),
      ),
    onError: sayFailure,
  });
  return (
    <Panel title={t('signing.files.title')}>
      <div className="flex flex-wrap gap-2">
        {reportFormats.toReversed().map((format) => (
          <Button key={format} icon="download" disabled={save.isPending} onClick={() => save.mutate(format)}>
            {format}
          </Button>
        ))}
      </div>
      <p role="status" className="mt-2 text-sm text-muted">
        {t(save.isPending ? 'signing.files.making' : 'signing.files.text')}
      </p>
    </Panel>
  );
}
