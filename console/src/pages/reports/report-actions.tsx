import type { Report } from '@gantry/contract/reports';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { downloadFile } from '../../shared/service/files.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay, useUser } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { isUnfinished } from './report-status.tsx';

/** The commands for a report: download its file, show why it failed, cancel it, delete it. */
export function ReportActions({ report }: { readonly report: Report }) {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { say, sayFailure } = useNotices();
  const [mayGenerate, mayManage] = [useMay('generateReports'), useMay('manageReports')];
  const isOwn = report.createdBy?.id === useUser().id;
  const mayChange = mayManage || (mayGenerate && isOwn);
  const client = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const [isReading, setIsReading] = useState(false);
  const { id, url, kind, format, error } = report;
  const name = `${t(`kinds.${kind}`)} ${format}`;
  const listAgain = () => client.invalidateQueries({ queryKey: service.reports.getReports.pathKey() });
  const download = useDownload();
  const cancel = useMutation({
    mutationFn: () => api.reports.cancel.mutate({ id }),
    onError: sayFailure,
    onSettled: () => void listAgain(),
  });
  return (
    <span className="flex justify-end gap-1">
      {url !== null && (
        <Button
          kind="quiet"
          icon="download"
          iconOnly
          aria-label={t('files.download', { name })}
          disabled={download.isPending}
          onClick={() => download.mutate(report)}
        />
      )}
      {error !== null && (
        <Button
          kind="quiet"
          icon="help"
          iconOnly
          aria-label={t('files.why', { name })}
          onClick={() => setIsReading(true)}
        />
      )}
      {mayChange && isUnfinished(report) && (
        <Button
          kind="quiet"
          icon="close"
          iconOnly
          aria-label={t('files.cancel', { name })}
          disabled={cancel.isPending}
          onClick={() => cancel.mutate()}
        />
      )}
      {mayChange && !isUnfinished(report) && (
        <Button
          kind="quiet"
          icon="delete"
          iconOnly
          aria-label={t('files.delete', { name })}
          onClick={() => setIsDeleting(true)}
        />
      )}
      <Dialog title={t('files.why', { name })} open={isReading} onClose={() => setIsReading(false)}>
        <p className="text-start whitespace-normal">
          <bdi>{error}</bdi>
        </p>
      </Dialog>
      {isDeleting && (
        <ConfirmDialog
          title={t('files.delete', { name })}
          action={common('dialog.delete')}
          run={() => api.reports.delete.mutate({ id })}
          onDone={() => {
            setIsDeleting(false);
            say(t('files.deleted'));
            void listAgain();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>{t('files.deleteText')}</p>
        </ConfirmDialog>
      )}
    </span>
  );
}

/** Downloads the file of a report, if it has one. */
export function useDownload() {
  const { sayFailure } = useNotices();
  return useMutation({
    mutationFn: async ({ url, fileName }: Pick<Report, 'url' | 'fileName'>) => {
      if (url !== null) await downloadFile(url, fileName ?? 'report');
    },
    onError: sayFailure,
  });
}
