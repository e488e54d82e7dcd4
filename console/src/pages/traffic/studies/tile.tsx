import type { BinStatus } from '@gantry/contract/traffic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/panel.tsx';
import type en from './locale/en.json';
import { Reason } from './reasons.tsx';
import { StatusBadge } from './statuses.tsx';

/** What a figure is called in the texts that say how it is computed. */
export type FigureKind = keyof (typeof en)['how'];

/** A figure with everything without which it must not be quoted. */
export interface FigureFacts {
  readonly kind: FigureKind;
  readonly label: string;
  /** Null if it cannot be given; `reason` says why. */
  readonly value: string | null;
  readonly unit?: string;
  /** The size of the sample, as a text such as `16 of 16 quarter hours`. */
  readonly n: string;
  /** Share (0 to 1) of the time that is known. */
  readonly coverage?: number;
  /** The method by its name in the field. */
  readonly method: string;
  readonly status: BinStatus;
  /** As the service says it. */
  readonly reason?: string | null;
  /** Further facts of the dialog, such as the times of a peak hour. */
  readonly more?: readonly (readonly [name: string, value: ReactNode])[];
}

export interface TileProps {
  readonly figure: FigureFacts;
  /** What the figure is about, for the dialog: the place, the days and the time zone. */
  readonly subject: readonly (readonly [name: string, value: ReactNode])[];
  /** Further lines below the value. */
  readonly children?: ReactNode;
}

/** A figure with its unit, sample, coverage, method and status. Its button says how it was computed. */
export function FigureTile({ figure, subject, children }: TileProps) {
  const { t, i18n } = useTranslation('studies');
  const [isOpen, setIsOpen] = useState(false);
  const { label, value, unit, n, coverage, method, status, reason } = figure;
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 });
  const known = coverage === undefined ? null : t('known', { share: share.format(floored(coverage)) });
  return (
    <div className="flex min-w-0 flex-col rounded-md border bg-surface px-3 py-2">
      <dt className="flex items-start justify-between gap-1 text-sm text-muted">
        <span className="pt-1">{label}</span>
        <Button
          kind="quiet"
          icon="help"
          iconOnly
          className="-me-2 -mt-1"
          aria-label={t('howOf', { figure: label })}
          onClick={() => setIsOpen(true)}
        />
      </dt>
      <dd className="flex min-w-0 grow flex-col gap-0.5">
        <p className="figures flex flex-wrap items-baseline gap-x-2">
          <bdi className="text-xl font-semibold">{value ?? '–'}</bdi>
          {unit !== undefined && value !== null && <span className="text-muted">{unit}</span>}
          {status !== 'VALID' && <StatusBadge status={status} />}
        </p>
        {reason && (
          <p className="text-sm">
            <Reason text={reason} />
          </p>
        )}
        {children}
        <p className="figures mt-auto pt-1 text-sm text-muted">
          {[t('n', { n }), known, method].filter(Boolean).join(' · ')}
        </p>
        <HowDialog {...{ figure, subject, known }} open={isOpen} onClose={() => setIsOpen(false)} />
      </dd>
    </div>
  );
}

/** A share of 99.96 % is not all of it. */
const floored = (share: number): number => Math.floor(share * 1_000) / 1_000;

interface HowDialogProps extends Pick<TileProps, 'figure' | 'subject'> {
  readonly known: string | null;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** How a figure was computed: its definition, its source, and what it was computed from. */
function HowDialog({ figure, subject, known, open, onClose }: HowDialogProps) {
  const { t } = useTranslation('studies');
  const { kind, label, value, unit, n, method, status, reason, more = [] } = figure;
  const facts = [
    [t('howLabels.value'), [value ?? '–', value !== null && unit].filter(Boolean).join(' ')],
    ...more,
    [t('howLabels.n'), n],
    [t('howLabels.coverage'), known],
    [t('howLabels.method'), method],
    [t('howLabels.status'), `${t(`status.${status}`)}: ${t(`statusMeans.${status}`)}`],
    [t('howLabels.reason'), reason ? <Reason key="reason" text={reason} /> : null],
    ...subject,
  ] as const;
  return (
    <Dialog title={t('howTitle', { figure: label })} open={open} onClose={onClose} width="narrow">
      <p>{t(`how.${kind}.definition`)}</p>
      <p className="text-muted">{t(`how.${kind}.source`)}</p>
      <Facts facts={facts} />
    </Dialog>
  );
}

/** Tiles side by side, as many as fit. */
export function Tiles({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[repeat(auto-fill,minmax(min(15rem,100%),1fr))] gap-2">{children}</dl>;
}
