import type { DataDecision, DataReview } from '@gantry/contract/quality';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import { FormDateField } from '../../../../shared/form/date-field.tsx';
import { useForm } from '../../../../shared/form/form.ts';
import { FormDialog } from '../../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../../shared/notices/notices.tsx';
import type { DayRange } from '../../../../shared/range/days.ts';
import { api, service } from '../../../../shared/service/service.ts';
import { useMay } from '../../../../shared/session/session.ts';
import { Moment } from '../../../../shared/time/moment.tsx';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { useTimeSettings } from '../../../../shared/time/zone.ts';
import { Badge, type Look } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import { ChoiceField } from '../../../../ui/select.tsx';
import { type Place, placeOf } from '../../comparison.ts';
import { usePlaceName } from '../../place.tsx';
import { rangeOfSpan, spanText } from './rules.ts';
import { useDecisionTable } from './tables.ts';

/** The time on which a person decides: that of a flag, or one to be entered, by default a day. */
export type Reviewed = { readonly place: Place } & (
  | { readonly from: Date; readonly until: Date }
  | { readonly day: string | null }
);

interface ReviewDialogProps {
  readonly reviewed: Reviewed;
  readonly onClose: () => void;
}

/** A form that accepts or rejects the data of a time, with a reason. */
export function ReviewDialog({ reviewed, onClose }: ReviewDialogProps) {
  const { t } = useTranslation('studies');
  const { say } = useNotices();
  const client = useQueryClient();
  const time = useServiceTime();
  const { place } = reviewed;
  const name = usePlaceName(place);
  const span = 'from' in reviewed ? reviewed : null;
  const form = useForm({
    keep: `review ${JSON.stringify(reviewed)}`,
    read: (entered) => ({
      ...place,
      ...(span
        ? rangeOfSpan(span)
        : { startDate: entered.text('startDate'), endDate: entered.text('endDate') }),
      decision: entered.text('decision') as DataDecision,
      reason: entered.text('reason'),
    }),
    save: (input) => api.traffic.reviewData.mutate(input),
    onSuccess: ({ decision }) => {
      onClose();
      say(t(`quality.wasDecided.${decision}`));
      // All figures of traffic may have changed.
      void client.invalidateQueries({ queryKey: service.traffic.pathKey() });
    },
  });
  return (
    <FormDialog title={t('quality.decideTitle')} form={form} onClose={onClose} action={t('quality.record')}>
      <p>
        <bdi className="font-semibold">{name}</bdi>
        {span && (
          <>
            {', '}
            <bdi dir="ltr" className="figures">
              {spanText(time, span)}
            </bdi>
          </>
        )}
      </p>
      {'day' in reviewed && <TimeFields day={reviewed.day} errorOf={form.errorOf} />}
      <ChoiceField
        label={t('quality.decision')}
        name="decision"
        defaultValue="REJECT"
        options={(['REJECT', 'ACCEPT'] as const).map((value) => ({
          value,
          label: t(`quality.decisionMeans.${value}`),
        }))}
      />
      <Field
        label={t('signing.fields.reason')}
        hint={t('quality.reasonHint')}
        name="reason"
        lines={3}
        maxLength={500}
        error={form.errorOf('reason')}
        required
      />
      <p className="text-sm text-muted">{t('quality.decideText')}</p>
    </FormDialog>
  );
}

interface TimeFieldsProps {
  readonly day: string | null;
  readonly errorOf: (path: string) => string | undefined;
}

/** The start and the end of the time on which is decided; at first those of a day. */
function TimeFields({ day, errorOf }: TimeFieldsProps) {
  const { t } = useTranslation('studies');
  const { timezone } = useTimeSettings();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <FormDateField
        label={t('quality.from')}
        name="startDate"
        withTime
        defaultValue={day ? `${day}T00:00` : ''}
        error={errorOf('startDate')}
        required
      />
      <FormDateField
        label={t('quality.until')}
        hint={timezone}
        name="endDate"
        withTime
        isEnd
        defaultValue={day ? `${day}T23:59` : ''}
        error={errorOf('endDate')}
        required
      />
    </div>
  );
}

const decisionLooks: Readonly<Record<DataDecision, Look>> = {
  ACCEPT: { tone: 'good', icon: 'good' },
  REJECT: { tone: 'high', icon: 'high' },
};

export function DecisionBadge({ decision }: { readonly decision: DataDecision }) {
  const { t } = useTranslation('studies');
  return <Badge {...decisionLooks[decision]}>{t(`quality.decisions.${decision}`)}</Badge>;
}

interface DecisionsCardProps {
  readonly title: string;
  /** null: those about any place. */
  readonly place: Place | null;
  readonly days: DayRange;
  readonly reviews: readonly DataReview[];
}

/** Who decided what about the data, and why, the latest first. */
export function DecisionsCard({ title, place, days, reviews }: DecisionsCardProps) {
  const { t } = useTranslation('studies');
  const name = usePlaceName(place);
  const [reviewed, setReviewed] = useState<Reviewed | null>(null);
  const zone = useZoneOfDays(days);
  const table = useDecisionTable(reviews);
  const decideAnew = ({ locationId, sensorId, from, until }: DataReview) => {
    const about = placeOf({ locationId, sensorId });
    if (about) setReviewed({ place: about, from, until });
  };
  return (
    <CardFrame
      {...{ title, table, zone }}
      subject={name || t('quality.network')}
      n={t('quality.nDecisions', { count: reviews.length })}
    >
      {reviews.length === 0 ? (
        <p className="text-muted">{t('quality.noDecision')}</p>
      ) : (
        <DecisionTable label={title} {...{ reviews, decideAnew }} />
      )}
      {reviewed && <ReviewDialog reviewed={reviewed} onClose={() => setReviewed(null)} />}
    </CardFrame>
  );
}

interface DecisionTableProps extends Pick<DecisionsCardProps, 'reviews'> {
  readonly label: string;
  readonly decideAnew: (review: DataReview) => void;
}

function DecisionTable({ label, reviews, decideAnew }: DecisionTableProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const mayDecide = useMay('manageSensors');
  return (
    <ScrolledTable
      label={label}
      className="max-h-96"
      head="bg-surface"
      columns={[
        {
          header: t('quality.decision'),
          className: 'border-b align-top',
          cell: ({ decision }: DataReview) => <DecisionBadge decision={decision} />,
        },
        {
          header: t('quality.time'),
          className: 'border-b align-top min-w-32 sm:whitespace-nowrap',
          isLeftToRight: true,
          cell: (review) => spanText(time, review),
        },
        {
          header: t('place'),
          className: 'border-b align-top',
          cell: ({ locationId, sensorId }) => <NameOf place={placeOf({ locationId, sensorId })} />,
        },
        {
          header: t('signing.fields.reason'),
          className: 'border-b align-top min-w-48 wrap-anywhere',
          cell: ({ reason }) => <bdi>{reason}</bdi>,
        },
        {
          header: t('quality.by'),
          className: 'border-b align-top',
          cell: ({ by, at }) => (
            <>
              <bdi>{by.name}</bdi> <Moment at={at} as="ago" className="text-sm text-muted" />
            </>
          ),
        },
        mayDecide && {
          header: t('quality.decideAnew'),
          hideHeader: true,
          className: 'border-b text-end align-top',
          cell: (review) => (
            <Button
              kind="quiet"
              aria-label={t('quality.decideAnewOn', { time: spanText(time, review) })}
              onClick={() => decideAnew(review)}
            >
              {t('quality.decideAnew')}
            </Button>
          ),
        },
      ]}
      rows={reviews}
      keyOf={({ id }) => id}
    />
  );
}

function NameOf({ place }: { readonly place: Place | null }) {
  return <bdi>{usePlaceName(place)}</bdi>;
}
