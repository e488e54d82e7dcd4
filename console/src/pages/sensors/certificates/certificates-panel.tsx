import type { Certificate, CertificateState } from '@gantry/contract/certificates';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { downloadFile } from '../../../shared/service/files.ts';
import { service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { useNow, useServiceTime } from '../../../shared/time/use-time.ts';
import { Badge, type Look } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { later } from '../../../ui/load-code.ts';
import { Panel } from '../../../ui/panel.tsx';
import { gapsBetween, kindsOf, rangeOf, type Span, validSpans } from './validity.ts';

const useAddDialog = later(async () => (await import('./certificate-dialogs.tsx')).AddCertificateDialog);
const useWithdrawDialog = later(async () => (await import('./certificate-dialogs.tsx')).WithdrawDialog);

/** The largest page: a sensor with more certificates shows those with the latest starts. */
const TAKE = 100;
/** The number of certificates that are listed at first. */
const FIRST = 5;

/** The certificates of a sensor: for which times they are valid, and what each attests. */
export function CertificatesPanel({ sensorId }: { readonly sensorId: string }) {
  const { t } = useTranslation('certificates');
  const mayManage = useMay('manageSensors');
  const [adds, setAdds] = useState(false);
  const [withdrawn, setWithdrawn] = useState<Certificate | null>(null);
  const [all, setAll] = useState(false);
  const AddDialog = useAddDialog(adds);
  const WithdrawDialog = useWithdrawDialog(withdrawn !== null);
  const { data, error, refetch } = useQuery(
    service.certificates.getAll.queryOptions({ sensorId, take: TAKE }),
  );
  const certificates = data?.certificates ?? [];
  return (
    <Panel
      title={t('title')}
      isFull
      actions={
        mayManage && (
          <Button icon="add" onClick={() => setAdds(true)}>
            {t('add')}
          </Button>
        )
      }
    >
      {error && !data && (
        <div className="p-3">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data && certificates.length === 0 && <p className="p-3 text-muted">{t('none')}</p>}
      {certificates.length > 0 && <Validity certificates={certificates} />}
      <ul>
        {(all ? certificates : certificates.slice(0, FIRST)).map((each) => (
          <Row key={each.id} of={each} onWithdraw={mayManage ? setWithdrawn : undefined} />
        ))}
      </ul>
      {!all && certificates.length > FIRST && (
        <Button kind="quiet" className="m-1 self-start" onClick={() => setAll(true)}>
          {t('all', { count: certificates.length })}
        </Button>
      )}
      {adds && AddDialog && <AddDialog sensorId={sensorId} onClose={() => setAdds(false)} />}
      {withdrawn && WithdrawDialog && <WithdrawDialog of={withdrawn} onClose={() => setWithdrawn(null)} />}
    </Panel>
  );
}

/** Returns a function for the first and the last day of a time. */
function useDays(): (span: Span) => string {
  const time = useServiceTime();
  return ({ from, until }) =>
    `\u2066${time.date(new Date(from))} – ${time.date(new Date(Math.max(from, until - 1)))}\u2069`;
}

/** A time line of each kind, in which gaps stay empty and today is marked. Screen readers read the same as text. */
function Validity({ certificates }: { readonly certificates: readonly Certificate[] }) {
  const { t } = useTranslation('certificates');
  const now = useNow(3_600_000);
  const time = useServiceTime();
  const days = useDays();
  const rows = kindsOf(certificates).map((kind) => ({ kind, spans: validSpans(certificates, kind) }));
  if (rows.length === 0) return null;
  const range = rangeOf(
    rows.flatMap(({ spans }) => spans),
    now,
  );
  const share = (at: number) => ((at - range.from) / (range.until - range.from)) * 100;
  const text = (spans: readonly Span[]) => {
    const parts = [t('bar.valid', { days: spans.map(days).join(', ') })];
    const gaps = gapsBetween(spans);
    if (gaps.length > 0) parts.push(t('bar.gaps', { days: gaps.map(days).join(', ') }));
    parts.push(t(spans.some(({ from, until }) => from <= now && now < until) ? 'bar.now' : 'bar.notNow'));
    return parts.join(' ');
  };
  return (
    <div className="flex flex-col gap-2 border-b p-3">
      {rows.map(({ kind, spans }) => (
        <div key={kind}>
          <span className="text-sm text-muted">{t(`kinds.${kind}`)}</span>
          <div
            role="img"
            aria-label={`${t(`kinds.${kind}`)}: ${text(spans)}`}
            dir="ltr"
            className="relative h-4 rounded-sm border border-dashed bg-bg forced-color-adjust-none"
          >
            {spans.map((span) => (
              <span
                key={span.from}
                title={days(span)}
                style={{ left: `${share(span.from)}%`, width: `${share(span.until) - share(span.from)}%` }}
                className="absolute inset-y-0 min-w-0.5 rounded-sm bg-good"
              />
            ))}
            <span
              style={{ left: `${share(now)}%` }}
              className="absolute -inset-y-1 w-0.5 -translate-x-1/2 bg-text"
            />
          </div>
        </div>
      ))}
      <div dir="ltr" aria-hidden="true" className="figures relative flex justify-between text-xs text-muted">
        <span>{time.date(new Date(range.from))}</span>
        <span>{time.date(new Date(range.until))}</span>
      </div>
      <p className="text-xs text-muted">{t('bar.note')}</p>
    </div>
  );
}

const looks: Readonly<Record<CertificateState, Look>> = {
  VALID: { tone: 'good', icon: 'good' },
  EXPIRING: { tone: 'high', icon: 'time' },
  EXPIRED: { tone: 'critical', icon: 'failure' },
  FUTURE: { tone: 'calm', icon: 'time' },
  WITHDRAWN: { tone: 'calm', icon: 'none' },
};

interface RowProps {
  readonly of: Certificate;
  readonly onWithdraw: ((of: Certificate) => void) | undefined;
}

function Row({ of, onWithdraw }: RowProps) {
  const { t, i18n } = useTranslation('certificates');
  const { sayFailure } = useNotices();
  const days = useDays();
  const { kind, number, issuer, validFrom, validUntil, tolerance, file, note, state } = of;
  const figure = (value: number) => value.toLocaleString(i18n.language);
  return (
    <li className="flex flex-wrap gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="flex min-w-0 grow basis-56 flex-col">
        <p className="flex flex-wrap items-center gap-x-3">
          <span className="font-medium">{t(`kinds.${kind}`)}</span>
          <bdi className="font-mono wrap-anywhere">{number}</bdi>
          <Badge {...looks[state]}>{t(`states.${state}`)}</Badge>
        </p>
        <p className="text-sm text-muted">
          <span className="figures whitespace-nowrap">
            {days({ from: validFrom.getTime(), until: validUntil.getTime() })}
          </span>
          {issuer !== null && (
            <>
              {' · '}
              <bdi>{issuer}</bdi>
            </>
          )}
        </p>
        {tolerance && (
          <p className="text-sm text-muted">
            {t(tolerance.percent === 0 ? 'toleranceFixed' : 'tolerance', {
              fixed: figure(tolerance.fixedKmh),
              percent: figure(tolerance.percent),
            })}
            {tolerance.roundDown && ` ${t('roundedDown')}`}
          </p>
        )}
        {note !== null && <bdi className="text-sm whitespace-pre-wrap wrap-anywhere">{note}</bdi>}
        {of.withdrawReason !== null && (
          <p className="text-sm wrap-anywhere">
            {t('withdrawnBy', { who: `\u2068${of.withdrawnBy?.name ?? '–'}\u2069` })}{' '}
            <bdi>{of.withdrawReason}</bdi>
          </p>
        )}
      </div>
      <div className="flex flex-wrap items-start gap-1">
        {file && (
          <Button
            icon="download"
            aria-label={t('download', { name: file.name })}
            onClick={() => void downloadFile(file.url, file.name).catch(sayFailure)}
          >
            {t('file')}
          </Button>
        )}
        {onWithdraw && state !== 'WITHDRAWN' && (
          <Button kind="danger" aria-label={t('withdrawOne', { number })} onClick={() => onWithdraw(of)}>
            {t('withdraw')}
          </Button>
        )}
      </div>
    </li>
  );
}
