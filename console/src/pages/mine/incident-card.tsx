import type { Coordinates } from '@gantry/contract/coordinates';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../shared/notices/notices.tsx';
import { outbox, useOutbox } from '../../shared/offline/outbox.ts';
import type { Card } from '../../shared/offline/stored.ts';
import { api, service } from '../../shared/service/service.ts';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { directionsTo, distanceBetween, distanceText } from './position.ts';

interface IncidentCardProps {
  readonly card: Card;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onNote: () => void;
  /** Where the device is; null if the user has not asked. */
  readonly position: Pick<Coordinates, 'latitude' | 'longitude'> | null;
}

/** An incident of the user: where it is and, if it is the open one, what can be done at it. */
export function IncidentCard({ card, isOpen, onOpen, onNote, position }: IncidentCardProps) {
  const { t, i18n } = useTranslation('mine');
  const title = useIncidentTitle()(card);
  const { severity, status, openedAt, place, road, coordinates } = card;
  const away = position && coordinates && distanceBetween(position, coordinates);
  return (
    <li className="flex flex-col gap-2 rounded-md border border-line-strong bg-raised p-3">
      <h2 className="text-lg leading-snug font-semibold">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onOpen}
          className="flex min-h-12 w-full items-center gap-2 text-start"
        >
          <bdi className="min-w-0 grow wrap-anywhere">{title}</bdi>
          {!isOpen && <Icon name="next" size={20} className="text-muted" />}
        </button>
      </h2>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <SeverityBadge severity={severity} />
        <IncidentStatusBadge status={status} />
        <Moment at={openedAt} as="ago" className="text-muted" />
      </p>
      {(place ?? road) !== null && (
        <p className="flex gap-2">
          <Icon name="location" className="mt-1" />
          <span className="min-w-0">
            {place !== null && <bdi className="block wrap-anywhere">{place}</bdi>}
            {road !== null && <bdi className="block">{road}</bdi>}
          </span>
        </p>
      )}
      {away !== null && (
        <p className="figures ps-6 text-muted">
          {t('distance.away', { far: distanceText(away, i18n.language) })}
        </p>
      )}
      {isOpen && <Actions card={card} title={title} onNote={onNote} />}
    </li>
  );
}

const BIG =
  'inline-flex min-h-12 min-w-0 grow basis-40 items-center justify-center gap-2 rounded-md border border-line-strong bg-raised px-3 text-lg hover:bg-hover';

function Actions({
  card,
  title,
  onNote,
}: Pick<IncidentCardProps, 'card' | 'onNote'> & { readonly title: string }) {
  const { t } = useTranslation('mine');
  const { id, coordinates } = card;
  return (
    <div className="flex flex-wrap gap-2">
      <TimeButton card={card} title={title} time="dispatchedAt" />
      <TimeButton card={card} title={title} time="arrivedAt" />
      {coordinates && (
        <a href={directionsTo(coordinates, title)} className={BIG}>
          <Icon name="location" /> {t('directionsTo')}
        </a>
      )}
      <Button isBig icon="camera" className="grow basis-40" onClick={onNote}>
        {t('commands.note')}
      </Button>
      <Link to="/incidents/$incidentId" params={{ incidentId: id }} className={BIG}>
        <Icon name="incident" /> {t('openIncident')}
      </Link>
    </div>
  );
}

interface TimeButtonProps {
  readonly card: Card;
  readonly title: string;
  readonly time: 'dispatchedAt' | 'arrivedAt';
}

/** Records T3 or T4 with the time of the tap, unless it is known, also without a connection. */
function TimeButton({ card: { id }, title, time }: TimeButtonProps) {
  const { t } = useTranslation('mine');
  const { offerUndo, sayFailure } = useNotices();
  const format = useTime();
  const { data } = useQuery(service.incidents.getById.queryOptions({ id }));
  const { waiting } = useOutbox();
  const known = data?.work.times.find(({ name }) => name === time)?.at ?? null;
  const own = waiting.find(
    ({ entry }) => entry.kind === 'time' && entry.incidentId === id && entry.time === time,
  );
  const at = known ?? (own && new Date(own.writtenAt));
  const record = async () => {
    try {
      const number = await outbox.add({ kind: 'time', incidentId: id, title, time });
      offerUndo(t(`said.${time}`), async () => {
        const isWaiting = outbox.get().waiting.some((each) => each.id === number);
        if (isWaiting) await outbox.drop(number);
        else await api.incidents.setTimes.mutate({ id, [time]: null });
      });
    } catch (error) {
      sayFailure(error);
    }
  };
  if (at)
    return (
      <p className="flex min-h-12 grow basis-40 items-center justify-center gap-2 rounded-md border bg-selected px-3 text-lg">
        <Icon name="acknowledge" />
        <span>{t(`times.${time}`)}</span>
        <span dir="ltr" className="figures">
          {format.time(at)}
        </span>
      </p>
    );
  return (
    <Button
      kind={time === 'arrivedAt' ? 'plain' : 'primary'}
      isBig
      icon="time"
      className="grow basis-40"
      onClick={() => void record()}
    >
      {t(`times.${time}`)}
    </Button>
  );
}
