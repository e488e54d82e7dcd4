import type { ReviewDecision } from '@gantry/contract/reviews';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCaseStep } from '../../../shared/cases/open-case.tsx';
import { isConflict, useWhen } from '../../../shared/conflict/faster.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { errorOf, isFailed } from '../../../shared/service/run-bulk.ts';
import { api, service } from '../../../shared/service/service.ts';
import { useUser } from '../../../shared/session/session.ts';
import type { PresentState, ReviewedEvent, RowStates } from './row-states.ts';

/** The flags that a decision sets, shown in the row before the service has responded (optimistic update). */
const marksOf = {
  CONFIRMED: { processed: true },
  REJECTED: { processed: true, archived: true },
  SECOND_LOOK: {},
} as const satisfies Record<ReviewDecision, { processed?: boolean; archived?: boolean }>;

/**
 * Reviews and archives events, with optimistic updates and undo (`z`). A review never replaces one that the user has
 * not seen.
 * @param open opens an event, to return to one whose decision failed
 */
export function useTriage(
  { note, refresh }: Pick<RowStates, 'note' | 'refresh'>,
  open: (event: ReviewedEvent) => void,
) {
  const { t } = useTranslation('events');
  const client = useQueryClient();
  const user = useUser();
  const notices = useNotices();
  const caseStep = useCaseStep();
  const fasterDecision = useFasterDecision();
  const underWay = useRef(new Set<string>());

  /** Refetches the data of the event that the pane shows. */
  const forget = (id: string) => {
    void client.invalidateQueries({ queryKey: service.events.getHistory.queryKey({ id }) });
    void client.invalidateQueries({ queryKey: service.events.getById.queryKey({ id }) });
  };
  /**
   * Names the event in the notice, because the user may have moved on to another one, and offers to repeat the command.
   * @param before what the failed command had changed; another command may be changing the rest of the event
   */
  const fail = async (
    error: unknown,
    event: ReviewedEvent,
    command: ReviewDecision | 'archived',
    before: Parameters<typeof note>[1],
    repeat: () => void,
  ) => {
    const { id } = event;
    note(id, before);
    const present = isConflict(error) ? await refresh(id).catch(() => null) : null;
    const retry = () => {
      open(event);
      repeat();
    };
    const why = present ? new Error(fasterDecision(present)) : error;
    notices.sayFailureOf(
      t(`failed.${command}`, { event: placed(event) }),
      why,
      isConflict(error) ? null : retry,
    );
    forget(id);
  };

  const decide = async (event: ReviewedEvent, decision: ReviewDecision, reason: string | null = null) => {
    const { id } = event;
    if (underWay.current.has(id)) return;
    underWay.current.add(id);
    const by = { id: user.id, name: `${user.firstName} ${user.lastName}` };
    const at = new Date();
    note(id, { review: { id: '', eventId: id, decision, reason, by, at }, ...marksOf[decision] });
    try {
      const review = await api.events.review.mutate({ id, decision, reason, ...seenOf(event) });
      note(id, { review });
      forget(id);
      const undo = async () => {
        await api.events.undoReview.mutate({ id: review.id });
        await refresh(id);
        forget(id);
      };
      const next = decision === 'CONFIRMED' ? caseStep({ eventId: id }) : null;
      notices.offerUndo(t(`done.${decision}`, { event: nameOf(event) }), undo, next);
    } catch (error) {
      const { review = null, processed, archived } = event;
      underWay.current.delete(id);
      const before = { review, processed, ...(decision === 'REJECTED' && { archived }) };
      await fail(error, event, decision, before, () => void decide(event, decision, reason));
    } finally {
      underWay.current.delete(id);
    }
  };

  const archive = async (event: ReviewedEvent) => {
    const { id } = event;
    if (event.archived) return;
    note(id, { archived: true });
    try {
      await api.events.markAsArchived.mutate({ id });
      forget(id);
      notices.offerUndo(t('done.archived', { event: nameOf(event) }), async () => {
        const { results } = await api.events.undoArchiveBatch.mutate({ ids: [id] });
        for (const result of results) if (isFailed(result)) throw errorOf(result);
        await refresh(id);
        forget(id);
      });
    } catch (error) {
      await fail(error, event, 'archived', { archived: false }, () => void archive(event));
    }
  };

  const nameOf = ({ licensePlateNumber, eventType }: ReviewedEvent) =>
    licensePlateNumber ?? t(`types.${eventType}`);
  /** The event with its place, for a notice that is read when another event is open. */
  const placed = (event: ReviewedEvent) =>
    [nameOf(event), event.locationName ?? event.sensorName]
      .filter(Boolean)
      .map((part) => `\u2068${part}\u2069`)
      .join(' · ');
  return { decide, archive };
}

/**
 * The state that a review expects: the event as the user saw it, so that a newer review is not replaced. An event that
 * the user did not see is expected to have no review and not to be processed.
 */
export function seenOf(event: Pick<ReviewedEvent, 'processed' | 'review'> | undefined): {
  expected: string | null;
  expectedProcessed?: boolean;
} {
  if (event?.review) return { expected: event.review.id };
  return { expected: null, ...(event?.processed && { expectedProcessed: true }) };
}

/** Describes who changed an event first, from its current state, in the user's language and time zone. */
export function useFasterDecision(): (present: PresentState) => string {
  const { t } = useTranslation('events');
  const when = useWhen();
  const words = (who: string, at: Date) => ({ who: `\u2068${who}\u2069`, when: when(at) });
  return ({ review, processedBy, processedAt }) => {
    if (review) return t(`conflict.${review.decision}`, words(review.by.name, review.at));
    if (processedBy && processedAt) return t('conflict.processed', words(processedBy.name, processedAt));
    return t('conflict.changed');
  };
}
