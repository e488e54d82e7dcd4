import type { DataQualityOfPlace, QualityFlag, Severity } from '@gantry/contract/quality';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../../../shared/chart/card-frame.tsx';
import { useZoneOfDays } from '../../../../shared/chart/use-zone-note.ts';
import type { DayRange } from '../../../../shared/range/days.ts';
import { useMay } from '../../../../shared/session/session.ts';
import { useServiceTime } from '../../../../shared/time/use-time.ts';
import { Badge } from '../../../../ui/badge.tsx';
import { Button } from '../../../../ui/button.tsx';
import { ScrolledTable } from '../../../../ui/scrolled-table.tsx';
import type { Place } from '../../comparison.ts';
import { usePlaceName } from '../../place.tsx';
import { Reason } from '../reasons.tsx';
import { DecisionBadge, ReviewDialog, type Reviewed } from './review.tsx';
import { isDecidable, severityLooks, spanText, touchesDay, useMeasured } from './rules.ts';
import { useFlagTable } from './tables.ts';

interface FlagsCardProps {
  readonly place: Place;
  readonly days: DayRange;
  readonly severity: Severity | undefined;
  /** The day whose flags are shown; null for all. */
  readonly day: string | null;
  readonly quality: DataQualityOfPlace;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** The most flags that are listed at once; the file has all. */
const SHOWN = 200;

/** What rules found, and the way to decide on it. */
export function FlagsCard({ place, days, severity, day, quality, onChange }: FlagsCardProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const name = usePlaceName(place);
  const mayDecide = useMay('manageSensors');
  const [reviewed, setReviewed] = useState<Reviewed | null>(null);
  const flags = quality.flags.filter(
    (flag) =>
      (severity === undefined || flag.severity === severity) &&
      (day === null || touchesDay(flag, day, time.isoDay)),
  );
  const shown = flags.slice(0, SHOWN);
  const title = day ? t('quality.flagsOfDay', { day: `\u2068${time.day(day)}\u2069` }) : t('quality.flags');
  const zone = useZoneOfDays(days);
  const table = useFlagTable(flags);
  const decide = ({ sensorId, from, until }: QualityFlag) =>
    setReviewed({ place: sensorId === null ? place : { sensorId }, from, until });
  return (
    <CardFrame
      {...{ title, table, zone }}
      subject={name}
      n={t('quality.nFlags', { count: flags.length })}
      commands={
        <>
          {day && <Button onClick={() => onChange({ day: undefined })}>{t('quality.allDays')}</Button>}
          {mayDecide && (
            <Button icon="edit" onClick={() => setReviewed({ place, day })}>
              {t(day ? 'quality.decideDay' : 'quality.decideTime')}
            </Button>
          )}
        </>
      }
    >
      {shown.length === 0 ? (
        <p className="text-muted">{t('quality.noFlag')}</p>
      ) : (
        <FlagTable label={title} flags={shown} {...(mayDecide && { decide })} />
      )}
      {flags.length > SHOWN && <p className="text-sm text-muted">{t('quality.firstOf', { count: SHOWN })}</p>}
      {quality.isCut && <p className="text-sm text-medium">{t('quality.isCut')}</p>}
      {reviewed && <ReviewDialog reviewed={reviewed} onClose={() => setReviewed(null)} />}
    </CardFrame>
  );
}

interface FlagTableProps {
  readonly label: string;
  readonly flags: readonly QualityFlag[];
  /** Absent for users who may not decide. */
  readonly decide?: (flag: QualityFlag) => void;
}

function FlagTable({ label, flags, decide }: FlagTableProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const measured = useMeasured();
  return (
    <ScrolledTable
      label={label}
      className="max-h-[32rem]"
      head="bg-surface"
      columns={[
        {
          header: t('quality.time'),
          className: 'border-b align-top min-w-32 sm:whitespace-nowrap',
          isLeftToRight: true,
          cell: (flag: QualityFlag) => spanText(time, flag),
        },
        {
          header: t('quality.rule'),
          className: 'border-b align-top min-w-64',
          cell: ({ rule, note, lane, sensorName }) => (
            <>
              <bdi className="font-medium">{rule}</bdi> {t(`quality.ruleNames.${rule}`)}
              <span className="block text-sm text-muted">
                {[
                  sensorName && <bdi key="sensor">{sensorName}</bdi>,
                  lane !== undefined && t('lane', { lane }),
                  note && (
                    <bdi key="note">
                      <Reason text={note} />
                    </bdi>
                  ),
                ]
                  .filter(Boolean)
                  .map((part, at) => [at > 0 && ' · ', part])}
              </span>
            </>
          ),
        },
        {
          header: t('quality.measured'),
          className: 'border-b align-top',
          cell: (flag) => measured(flag),
        },
        {
          header: t('quality.severity'),
          className: 'border-b align-top',
          cell: ({ severity }) => (
            <Badge {...severityLooks[severity]}>{t(`quality.severities.${severity}`)}</Badge>
          ),
        },
        {
          header: t('quality.decision'),
          className: 'border-b align-top',
          cell: ({ decision }) => decision && <DecisionBadge decision={decision} />,
        },
        decide !== undefined && {
          header: t('quality.decide'),
          hideHeader: true,
          className: 'border-b text-end align-top',
          cell: (flag) =>
            isDecidable(flag) && (
              <Button
                kind="quiet"
                aria-label={t('quality.decideOn', { rule: flag.rule, time: spanText(time, flag) })}
                onClick={() => decide(flag)}
              >
                {t('quality.decide')}
              </Button>
            ),
        },
      ]}
      rows={flags}
      keyOf={(flag) =>
        `${flag.rule} ${flag.from.toISOString()} ${flag.until.toISOString()} ${flag.sensorId} ${flag.lane} ${flag.value}`
      }
    />
  );
}
