import { GantryError } from '@gantry/client';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../service/service.ts';
import { useUser } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { TimelineItem } from './timeline-item.tsx';

/** Whether somebody else was faster. */
export function isConflict(error: unknown): error is GantryError {
  return error instanceof GantryError && error.code === 'CONFLICT';
}

interface ConflictProps {
  readonly error: GantryError;
  readonly incidentId: string;
  /** `updatedAt` of the incident as the user saw it. */
  readonly seenAt: Date;
  readonly onClose?: () => void;
}

/** Says who was faster, what they did and when. Nothing of theirs was overwritten. */
export function Conflict({ error, incidentId, seenAt, onClose }: ConflictProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const user = useUser();
  const { data } = useQuery(service.incidents.getById.queryOptions({ id: incidentId }));
  const steps = (data?.timeline ?? []).filter(
    ({ action, at, by }) =>
      at > seenAt && by?.id !== user.id && action !== 'attachEvent' && action !== 'addNote',
  );
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-md border border-medium bg-medium-surface p-3">
      <p className="flex items-center gap-2 font-semibold">
        <Icon name="users" className="text-medium" />
        <span className="grow">{t('conflict.title')}</span>
        {onClose && (
          <Button
            kind="quiet"
            icon="close"
            iconOnly
            aria-label={t('common:dialog.close')}
            onClick={onClose}
          />
        )}
      </p>
      <ul className="flex flex-col gap-1">
        {steps.map((step) => (
          <TimelineItem key={`${step.at.getTime()}${step.action}`} entry={step} />
        ))}
      </ul>
      <p>{t('conflict.text')}</p>
      <p className="text-sm">
        <bdi>{error.message}</bdi>
      </p>
      {error.requestId !== undefined && (
        <p className="text-sm text-muted">
          {t('common:failure.requestId')} <bdi className="font-mono select-all">{error.requestId}</bdi>
        </p>
      )}
    </div>
  );
}
