import type { EventDetail } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../../shared/events/codes.ts';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';
import { useSeesPlates } from '../../../shared/service/plates.tsx';
import { SeverityBadge } from '../../../shared/status/badges.tsx';
import { useSpeedText } from '../../../shared/status/speed.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Fact, Facts as FactList } from './section.tsx';

/** The data of the event, as the sensor sent it. */
export function Facts({ event }: { readonly event: EventDetail }) {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  const speedText = useSpeedText();
  const { licensePlateNumber: plate, vehicleSpeed, createdAt, timestamp } = event;
  const late = createdAt.getTime() - timestamp.getTime();
  return (
    <div className="flex flex-col gap-2">
      {event.description && (
        <p tabIndex={event.description.length > LONG ? 0 : undefined} className="max-h-40 overflow-y-auto">
          <bdi>{event.description}</bdi>
        </p>
      )}
      <FactList>
        <Fact name={t('fields.timestamp')}>
          <Moment at={timestamp} />
          {isOfReceipt(event) && <span className="block text-sm text-muted">{t('pane.ofReceipt')}</span>}
        </Fact>
        {late > LATE_MS && (
          <Fact name={t('fields.createdAt')}>
            <Moment at={createdAt} />
          </Fact>
        )}
        <Fact name={t('fields.eventType')}>{t(`types.${event.eventType}`)}</Fact>
        {event.violationType !== null && (
          <Fact name={t('fields.violationType')}>
            <bdi>{names.violation(event.violationType)}</bdi>
          </Fact>
        )}
        {event.severity && (
          <Fact name={t('fields.severity')}>
            <SeverityBadge severity={event.severity} />
          </Fact>
        )}
        {plate !== null && <Plate plate={plate} />}
        {event.plateRegion !== undefined && (
          <Fact name={t('fields.plateRegion')}>
            <bdi>{event.plateRegion}</bdi>
          </Fact>
        )}
        {event.plateConfidence !== undefined && (
          <Fact name={t('fields.plateConfidence')}>
            <bdi className="figures">{`${event.plateConfidence} %`}</bdi>
          </Fact>
        )}
        {vehicleSpeed !== null && (
          <Fact name={t('fields.vehicleSpeed')}>
            <span className="figures">{speedText(vehicleSpeed, 1)}</span>
          </Fact>
        )}
        {event.vehicleType !== null && (
          <Fact name={t('fields.vehicleType')}>
            <bdi>{names.vehicle(event.vehicleType)}</bdi>
          </Fact>
        )}
        {event.lane !== undefined && (
          <Fact name={t('fields.lane')}>
            <bdi>{event.lane}</bdi>
          </Fact>
        )}
        {event.direction !== undefined && (
          <Fact name={t('fields.direction')}>
            <bdi>{names.direction(event.direction)}</bdi>
          </Fact>
        )}
        <Fact name={t('fields.id')}>
          <span className="flex items-center gap-1">
            <bdi className="one-line font-mono text-sm">{event.id}</bdi>
            <CopyButton iconOnly label={t('pane.copyId')} text={event.id} />
          </span>
        </Fact>
      </FactList>
    </div>
  );
}

/** Whether the time is that of receipt, because a message received over a connection had no plausible time. */
function isOfReceipt({ metadata }: EventDetail): boolean {
  return metadata?.clock === 'receipt' && metadata.connectionId !== undefined;
}

/** A description longer than this, in characters, can be focused, because it may have to be scrolled. */
const LONG = 300;
/** `createdAt` is shown as well if it is later than the time of the event by more than this, in milliseconds. */
const LATE_MS = 60_000;

function Plate({ plate }: { readonly plate: string }) {
  const { t } = useTranslation('events');
  const matched = plateKey(plate);
  const seesPlates = useSeesPlates();
  return (
    <>
      <Fact name={t('fields.plate')}>
        <bdi className="font-mono text-lg font-semibold">{plate}</bdi>
      </Fact>
      {seesPlates && (
        <Fact name={t('fields.plateMatched')}>
          <bdi className="font-mono">{matched}</bdi>{' '}
          <Link
            to="/events"
            search={{ licensePlateNumber: matched }}
            title={t('pane.samePlateNote')}
            className="text-accent underline"
          >
            {t('pane.samePlate')}
          </Link>
        </Fact>
      )}
    </>
  );
}
