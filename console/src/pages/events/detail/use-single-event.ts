import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { service } from '../../../shared/service/service.ts';
import { type ReviewedEvent, type RowStates, useRowStates } from '../triage/row-states.ts';

/** Loads the open event as a row if the list does not contain it. */
export function useSingleEvent(id: string, enabled: boolean, states: RowStates): ReviewedEvent | undefined {
  const { data, dataUpdatedAt } = useQuery({ ...service.events.getById.queryOptions({ id }), enabled });
  const events = useMemo(() => (enabled && data ? [data] : []), [enabled, data]);
  const readAt = useMemo(() => new Map([[id, dataUpdatedAt]]), [id, dataUpdatedAt]);
  return useRowStates(events, readAt, states).rows[0];
}
