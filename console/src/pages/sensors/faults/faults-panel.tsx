import type { Fault } from '@gantry/contract/faults';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { FaultBadge } from '../../../shared/status/fault-badge.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { later } from '../../../ui/load-code.ts';
import { Panel } from '../../../ui/panel.tsx';

const useReportFault = later(async () => (await import('./fault-dialogs.tsx')).ReportFaultDialog);
const useFaultDialog = later(async () => (await import('./fault-dialogs.tsx')).FaultDialog);

/** The number of faults of a sensor that are listed, the latest first; the page of faults has all of them. */
const SHOWN = 5;

/** The faults of a sensor: those that are not repaired, then the latest that are. */
export function FaultsPanel({ sensorId }: { readonly sensorId: string }) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const mayReport = useMay('manageIncidents');
  const [openId, setOpenId] = useState<string | null>(null);
  const [reports, setReports] = useState(false);
  const ReportFaultDialog = useReportFault(reports);
  const FaultDialog = useFaultDialog(openId !== null);
  const open = useQuery(
    service.faults.getAll.queryOptions({ sensorId, open: true, take: 100, sortOrder: 'asc' }),
  );
  const repaired = useQuery(service.faults.getAll.queryOptions({ sensorId, open: false, take: SHOWN }));
  const faults = [...(open.data?.faults ?? []), ...(repaired.data?.faults ?? [])];
  const error = open.error ?? repaired.error;
  return (
    <Panel
      title={t('title')}
      isFull
      actions={
        mayReport && (
          <Button icon="maintenance" onClick={() => setReports(true)}>
            {t('report.action')}
          </Button>
        )
      }
    >
      {error && faults.length === 0 && (
        <div className="p-3">
          <Failure error={error} onRetry={() => void open.refetch()} />
        </div>
      )}
      {open.data && faults.length === 0 && <p className="p-3 text-muted">{t('none')}</p>}
      <ul>
        {faults.map((fault) => (
          <Row key={fault.id} fault={fault} onOpen={() => setOpenId(fault.id)} />
        ))}
      </ul>
      {(repaired.data?.total ?? 0) > SHOWN && (
        <p className="border-t p-3">
          <Link
            to="/sensors/faults"
            search={{ sensorId, open: false }}
            className="text-accent underline pointer-coarse:py-2.5"
          >
            {t('all')}
          </Link>
        </p>
      )}
      {reports && ReportFaultDialog && (
        <ReportFaultDialog sensorId={sensorId} onClose={() => setReports(false)} />
      )}
      {openId !== null && FaultDialog && (
        <FaultDialog key={openId} id={openId} onClose={() => setOpenId(null)} />
      )}
    </Panel>
  );
}

function Row({ fault, onOpen }: { readonly fault: Fault; readonly onOpen: () => void }) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const { state, text, code, ticket, foundAt, reason } = fault;
  return (
    <li className="flex items-start gap-3 border-b px-3 py-2 last:border-b-0">
      <div className="flex min-w-0 grow flex-col">
        <span className="line-clamp-3 wrap-anywhere">
          <bdi>{text}</bdi>
        </span>
        <span className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
          <FaultBadge state={state} />
          {reason !== null && <bdi>{reason}</bdi>}
          {code !== null && <bdi>{code}</bdi>}
          {ticket !== null && (
            <span>
              {t('fields.ticket')} <bdi>{ticket}</bdi>
            </span>
          )}
          <span>
            {t('found')} <Moment at={foundAt} as="ago" />
          </span>
        </span>
      </div>
      <Button onClick={onOpen} aria-label={`${t('open')}: ${text}`}>
        {t('open')}
      </Button>
    </li>
  );
}
