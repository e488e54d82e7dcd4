import type { Incident } from '@gantry/contract/incidents';
import type { LocationInFull } from '@gantry/contract/locations';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type Card, keptCards } from '../../shared/offline/stored.ts';
import { service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';

/** How long a location is considered fresh, in milliseconds: they hardly ever move. */
const FRESH_MS = 300_000;
const MAX_CARDS = 100;

/**
 * The incidents that are assigned to the user and not resolved, the most severe first. They are kept in this browser, so
 * that they are known after a reload without a connection.
 */
export function useCards() {
  const { id: userId } = useUser();
  const roadOf = useRoadText();
  const kept = keptCards.use();
  const { data, error, refetch, dataUpdatedAt } = useQuery(
    service.incidents.getAll.queryOptions({
      assignedTo: 'me',
      status: ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'],
      sortBy: 'priority',
      take: MAX_CARDS,
    }),
  );
  const ids = useMemo(
    () => [...new Set(data?.incidents.flatMap(({ locationId }) => locationId ?? []))],
    [data],
  );
  const places = useQueries({
    queries: ids.map((id) => ({
      ...service.locations.getById.queryOptions({ id }),
      staleTime: FRESH_MS,
      retry: false,
    })),
    combine: (found) => found.map(({ data: place }) => place),
  });
  const cards = useMemo(() => {
    const byId = new Map(places.map((place) => [place?.id, place]));
    return data?.incidents.map((incident) => cardOf(incident, byId.get(incident.locationId ?? ''), roadOf));
  }, [data, places, roadOf]);
  useEffect(() => {
    if (!cards) return;
    const dated = cards.map((card) => ({ ...card, openedAt: card.openedAt.toISOString() }));
    keptCards.set({ userId, at: dataUpdatedAt, cards: dated });
  }, [cards, dataUpdatedAt, userId]);
  const isOwn = kept?.userId === userId;
  const former = useMemo(
    () => (isOwn ? kept.cards.map((card) => ({ ...card, openedAt: new Date(card.openedAt) })) : undefined),
    [kept, isOwn],
  );
  return {
    cards: cards ?? former,
    /** Of when they are, in milliseconds since 1970. */
    at: cards ? dataUpdatedAt : isOwn ? kept.at : null,
    error: error as unknown,
    refetch: () => void refetch(),
  };
}

function cardOf(
  { id, title, type, severity, status, openedAt, location }: Incident,
  place: LocationInFull | undefined,
  roadOf: (place: LocationInFull) => string | null,
): Card {
  return {
    ...{ id, title, type, severity, status, openedAt },
    place: place?.name ?? location?.address ?? null,
    road: place ? roadOf(place) : null,
    coordinates: location ?? place?.coordinates ?? null,
  };
}

/** Returns a function that says where a location is on its road: the road, the kilometre and the direction in words. */
function useRoadText(): (place: LocationInFull) => string | null {
  const { t, i18n } = useTranslation('mine');
  return useMemo(
    () =>
      ({ road, kilometre, direction }: LocationInFull) => {
        const km = kilometre?.toLocaleString(i18n.language, { maximumFractionDigits: 3 });
        const parts = [
          road && `\u2068${road}\u2069`,
          km !== undefined && t('kilometre', { km: `\u2068${km}\u2069` }),
          direction && t(`directions.${direction}`),
        ].filter(Boolean);
        return parts.length > 0 ? parts.join(' · ') : null;
      },
    [t, i18n.language],
  );
}
