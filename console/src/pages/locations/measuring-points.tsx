import type { Assignment, MeasuringPoint } from '@gantry/contract/points';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { channelText } from './channel.ts';
import { AssignmentDialog, PointDialog } from './point-dialogs.tsx';

/** What is done to a point or an assignment; without one, it is added. */
type Task =
  | { readonly kind: 'point'; readonly point?: MeasuringPoint }
  | { readonly kind: 'assignment'; readonly point: MeasuringPoint; readonly assignment?: Assignment }
  | { readonly kind: 'delete'; readonly name: string; readonly run: () => Promise<unknown> };

const TAKE = 100;

/** The cross-sections of a location at which traffic is counted, and which sensors count there. */
export function MeasuringPoints({ locationId }: { readonly locationId: string }) {
  const { t } = useTranslation('studies');
  const mayManage = useMay('manageSensors');
  const [task, setTask] = useState<Task | null>(null);
  const points = useQuery(service.points.list.queryOptions({ locationId, take: TAKE }));
  const assignments = useQuery(service.assignments.list.queryOptions({ locationId, take: TAKE }));
  const done = () => {
    setTask(null);
    for (const key of [service.points.pathKey(), service.assignments.pathKey(), service.traffic.pathKey()])
      void queryClient.invalidateQueries({ queryKey: key });
  };
  const close = () => setTask(null);
  const error = points.error ?? assignments.error;
  // The point that a location without entered ones has is not stored.
  const entered = points.data?.points.filter(({ id }) => id !== locationId);
  if (!mayManage && entered?.length === 0) return null;
  return (
    <Panel
      title={t('points.title')}
      isFull
      actions={
        mayManage && (
          <Button icon="add" onClick={() => setTask({ kind: 'point' })}>
            {t('points.add')}
          </Button>
        )
      }
    >
      {error && <Failure error={error} />}
      {!error && !(points.data && assignments.data) && <Skeleton rows={2} />}
      <ul>
        {entered?.map((point) => (
          <PointItem
            key={point.id}
            {...{ point }}
            assignments={assignments.data?.assignments.filter(({ pointId }) => pointId === point.id) ?? []}
            {...(mayManage && { onTask: setTask })}
          />
        ))}
      </ul>
      {task?.kind === 'point' && <PointDialog {...{ locationId }} {...task} onClose={close} onDone={done} />}
      {task?.kind === 'assignment' && <AssignmentDialog {...task} onClose={close} onDone={done} />}
      {task?.kind === 'delete' && (
        <ConfirmDialog
          title={t('points.deleteTitle')}
          action={t('points.delete')}
          run={task.run}
          onDone={done}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{task.name}</bdi>
          </p>
          <p>{t('points.deleteText')}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

interface PointItemProps {
  readonly point: MeasuringPoint;
  readonly assignments: readonly Assignment[];
  /** Absent if nothing may be changed. */
  readonly onTask?: (task: Task) => void;
}

function PointItem({ point, assignments, onTask }: PointItemProps) {
  const { t } = useTranslation('studies');
  const { id, name, direction, lanes } = point;
  return (
    <li className="border-b px-3 py-2 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 grow">
          <bdi className="font-medium">{name}</bdi>{' '}
          <span className="text-muted">
            {direction === 'BOTH' ? t('points.both') : direction}
            {lanes !== null && ` · ${t('points.nLanes', { count: lanes })}`}
          </span>
          <Validity of={point} />
        </p>
        {onTask && (
          <>
            <Button icon="add" onClick={() => onTask({ kind: 'assignment', point })}>
              {t('points.assign')}
            </Button>
            <Tools
              name={name}
              onEdit={() => onTask({ kind: 'point', point })}
              onDelete={() => onTask({ kind: 'delete', name, run: () => api.points.delete.mutate({ id }) })}
            />
          </>
        )}
      </div>
      <ul className="ps-4">
        {assignments.map((assignment) => (
          <AssignmentItem key={assignment.id} {...{ point, assignment }} {...(onTask && { onTask })} />
        ))}
      </ul>
    </li>
  );
}

interface AssignmentItemProps extends Pick<PointItemProps, 'point' | 'onTask'> {
  readonly assignment: Assignment;
}

function AssignmentItem({ point, assignment, onTask }: AssignmentItemProps) {
  const { t } = useTranslation('studies');
  const { id, sensorId, channel, role } = assignment;
  const sensor = useQuery({
    ...service.sensors.getById.queryOptions({ id: sensorId }),
    staleTime: 300_000,
    retry: false,
  });
  const name = sensor.data?.name ?? sensorId;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <p className="min-w-0 grow">
        <bdi>{name}</bdi>{' '}
        <span className="text-muted">
          {t(`points.roles.${role}`)}
          {channel !== '*' && (
            <>
              {' · '}
              <bdi dir="ltr">{channelText(channel)}</bdi>
            </>
          )}
        </span>
        <Validity of={assignment} />
      </p>
      {onTask && (
        <Tools
          name={name}
          onEdit={() => onTask({ kind: 'assignment', point, assignment })}
          onDelete={() => onTask({ kind: 'delete', name, run: () => api.assignments.delete.mutate({ id }) })}
        />
      )}
    </li>
  );
}

function Validity({
  of: { validFrom, validUntil },
}: {
  readonly of: Pick<Assignment, 'validFrom' | 'validUntil'>;
}) {
  const { t } = useTranslation('studies');
  if (validFrom === null && validUntil === null) return null;
  return (
    <span className="block text-sm text-muted">
      {validFrom && (
        <>
          {t('points.from')} <Moment at={validFrom} />{' '}
        </>
      )}
      {validUntil && (
        <>
          {t('points.until')} <Moment at={validUntil} />
        </>
      )}
    </span>
  );
}

interface ToolsProps {
  readonly name: string;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function Tools({ name, onEdit, onDelete }: ToolsProps) {
  const { t } = useTranslation('studies');
  return (
    <span className="flex">
      <Button kind="quiet" icon="edit" iconOnly aria-label={t('points.editOf', { name })} onClick={onEdit} />
      <Button
        kind="quiet"
        icon="delete"
        iconOnly
        aria-label={t('points.deleteOf', { name })}
        onClick={onDelete}
      />
    </span>
  );
}
