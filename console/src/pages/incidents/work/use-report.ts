import type { Incident } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { downloadFile } from '../../../shared/service/files.ts';
import { api } from '../../../shared/service/service.ts';

/** The pause between two questions whether the report is done, in milliseconds, and the number of them. */
const PAUSE_MS = 500;
const MAX_QUESTIONS = 240;

/** Returns a function that has the situation report of an incident made, and downloads it. */
export function useSituationReport(): (incident: Incident) => Promise<void> {
  const { t } = useTranslation('incidents');
  const { say, sayFailure } = useNotices();
  return async ({ id, openedAt }) => {
    try {
      const { id: reportId } = await api.reports.generate.mutate({
        kind: 'INCIDENT_CHRONOLOGY',
        format: 'PDF',
        startDate: openedAt,
        endDate: new Date(Math.max(Date.now(), openedAt.getTime())),
        filters: { incidentId: id },
      });
      say(t('report.making'));
      for (let n = 0; n < MAX_QUESTIONS; n++) {
        const { status, url, fileName, error } = await api.reports.getById.query({ id: reportId });
        if (status === 'DONE' && url !== null) return await downloadFile(url, fileName ?? 'report.pdf');
        if (status === 'FAILED' || status === 'CANCELLED') throw new Error(error ?? status);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch (error) {
      sayFailure(error);
    }
  };
}
