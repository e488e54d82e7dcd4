import type { GantryError } from '@gantry/client';
import { recordingActions } from '@gantry/contract/incident-states';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Faster } from '../../shared/conflict/faster.tsx';
import { service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { TimelineItem } from './timeline.tsx';

interface ConflictProps {
  readonly error: GantryError;
  readonly incidentId: string;
  /** `updatedAt` of the incident as the user saw it. */
  readonly seenAt: Date;
  readonly onClose?: () => void;
}

/** Shows which other user has changed the incident, how, and when. Their change was not overwritten. */
export function Conflict({ error, incidentId, seenAt, onClose }: ConflictProps) {
  const { t } = useTranslation('incidents');
  const user = useUser();
  const { data } = useQuery(service.incidents.getById.queryOptions({ id: incidentId }));
  const steps = (data?.timeline ?? []).filter(
    ({ action, at, by }) =>
      at > seenAt && by?.id !== user.id && !(recordingActions as readonly string[]).includes(action),
  );
  return (
    <Faster error={error} {...(onClose && { onClose })}>
      {steps.length > 0 ? (
        <ul className="flex flex-col gap-1">
          {steps.map((step) => (
            <TimelineItem key={`${step.at.getTime()}${step.action}`} entry={step} />
          ))}
        </ul>
      ) : (
        <bdi>{error.message}</bdi>
      )}
      <p>{t('conflict.text')}</p>
    </Faster>
  );
}
