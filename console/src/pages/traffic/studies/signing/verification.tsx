import type { Study, VerifiedStudy } from '@gantry/contract/studies';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../../shared/service/failure.tsx';
import { api } from '../../../../shared/service/service.ts';
import { Badge } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { Panel } from '../../../../ui/panel.tsx';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import { ShortHash } from './study-status.tsx';

/** Compares the frozen data of a study with those that are there now, and says in words what was found. */
export function Verification({ study: { id } }: { readonly study: Study }) {
  const { t } = useTranslation('studies');
  const verify = useMutation({ mutationFn: () => api.studies.verify.query({ id }) });
  return (
    <Panel
      title={t('signing.verify.title')}
      actions={
        <Button icon="refresh" disabled={verify.isPending} onClick={() => verify.mutate()}>
          {t('signing.verify.action')}
        </Button>
      }
    >
      {verify.error && <Failure error={verify.error} />}
      <div role="status" className="flex flex-col gap-2">
        {verify.data ? (
          <Result found={verify.data} />
        ) : (
          <p className="text-muted">{t('signing.verify.text')}</p>
        )}
      </div>
    </Panel>
  );
}

/** The sentences with which the service says why data do not match. */
const sentences = [
  [/^The place of the study no longer exists/, 'placeGone'],
  [/^Retention has removed events/, 'retention'],
  [/^Nothing is known about the range any more/, 'nothing'],
  [/^Data of the range were added, changed or removed/, 'changed'],
] as const;

function Result({ found }: { readonly found: VerifiedStudy }) {
  const { t, i18n } = useTranslation('studies');
  const { matches, isIntact, reason, hash, storedHash, differences, differenceCount } = found;
  const text = (value: string | number | null) =>
    typeof value === 'number' ? new Intl.NumberFormat(i18n.language).format(value) : (value ?? '–');
  const known = sentences.find(([pattern]) => reason !== null && pattern.test(reason));
  return (
    <>
      {!isIntact && (
        <Badge tone="critical" icon="critical">
          {t('signing.verify.altered')}
        </Badge>
      )}
      {matches ? (
        <Badge tone="good" icon="good">
          {t('signing.verify.matches')}
        </Badge>
      ) : (
        <Badge tone="high" icon="high">
          {t('signing.verify.differs')}
        </Badge>
      )}
      <p>
        {matches && t('signing.verify.matchesText')}
        {known ? t(`signing.verify.reasons.${known[1]}`) : reason && <bdi lang="en">{reason}</bdi>}{' '}
        {t('signing.verify.hashes')} <ShortHash hash={storedHash} />
        {hash && hash !== storedHash && (
          <>
            {' → '}
            <ShortHash hash={hash} />
          </>
        )}
      </p>
      {differences.length > 0 && (
        <>
          <p>{t('signing.verify.differences', { count: differenceCount })}</p>
          <ScrolledTable
            label={t('signing.verify.differencesLabel')}
            head="bg-surface"
            columns={[
              {
                header: t('signing.verify.row'),
                isLeftToRight: true,
                cell: ({ row }: (typeof differences)[number]) => row,
              },
              { header: t('signing.verify.column'), cell: ({ column }) => <bdi>{column}</bdi> },
              { header: t('signing.verify.stored'), isFigure: true, cell: ({ stored }) => text(stored) },
              { header: t('signing.verify.current'), isFigure: true, cell: ({ current }) => text(current) },
            ]}
            rows={differences}
            keyOf={({ row, column }) => `${row} ${column}`}
          />
        </>
      )}
    </>
  );
}
