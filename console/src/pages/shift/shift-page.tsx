import { permissionNames } from '@gantry/contract/permissions';
import type { Shift } from '@gantry/contract/shifts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { readLogAgain } from '../../shared/log/read-again.ts';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { People, peopleIn } from './people.tsx';
import { ShiftPanel } from './shift-panel.tsx';

/** What others do appears within this time, in milliseconds. */
const POLL_MS = 10_000;
const TAKE = 50;

/** The shifts that have not ended, what they hand over, and those before. */
export function ShiftPage() {
  const { t } = useTranslation('shift');
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <>
      <PageHeader title={t('title')}>
        <LinkButton to="/log" icon="list">
          {t('log')}
        </LinkButton>
      </PageHeader>
      <Shifts />
    </>
  );
}

function Shifts() {
  const { t } = useTranslation('shift');
  const { shift: openId } = useSearch({ from: '/shell/shift' });
  const navigate = useNavigate({ from: '/shift' });
  const [starts, setStarts] = useState(false);
  const { data, error, refetch } = useQuery({
    ...service.shifts.getAll.queryOptions({ take: TAKE }),
    refetchInterval: POLL_MS,
  });
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={6} />;
  const open = data.shifts.filter(({ state }) => state !== 'ENDED');
  const ended = data.shifts.filter(({ state }) => state === 'ENDED');
  const shownId = openId ?? open[0]?.id;
  const show = (id: string | undefined) => void navigate({ search: { shift: id } });
  const start = (
    <Button kind={open.length === 0 ? 'primary' : 'plain'} icon="add" onClick={() => setStarts(true)}>
      {t('start')}
    </Button>
  );
  return (
    <div className="flex min-h-0 grow flex-col overflow-y-auto lg:flex-row lg:overflow-hidden">
      <div className="flex shrink-0 flex-col gap-2 border-b p-3 lg:w-80 lg:overflow-y-auto lg:border-e lg:border-b-0 print:hidden">
        {start}
        <ShiftList label={t('now')} shifts={open} shownId={shownId} onShow={show} />
        <ShiftList label={t('before')} shifts={ended} shownId={shownId} onShow={show} />
      </div>
      <div className="min-w-0 grow p-3 lg:overflow-y-auto">
        {shownId === undefined ? (
          <Empty icon="users" title={t('none')}>
            {t('noneText')}
          </Empty>
        ) : (
          <ShiftPanel key={shownId} id={shownId} onNext={show} />
        )}
      </div>
      {starts && (
        <StartDialog
          onClose={() => setStarts(false)}
          onStarted={({ id }) => {
            setStarts(false);
            show(id);
          }}
        />
      )}
    </div>
  );
}

interface ShiftListProps {
  readonly label: string;
  readonly shifts: readonly Shift[];
  readonly shownId: string | undefined;
  readonly onShow: (id: string) => void;
}

function ShiftList({ label, shifts, shownId, onShow }: ShiftListProps) {
  const { t } = useTranslation('shift');
  if (shifts.length === 0) return null;
  return (
    <section aria-label={label}>
      <h2 className="py-1 text-sm text-muted">{label}</h2>
      <ul className="rounded-md border">
        {shifts.map(({ id, desk, lead, startedAt, state }) => (
          <li key={id} className="border-b last:border-b-0">
            <button
              type="button"
              onClick={() => onShow(id)}
              aria-current={id === shownId ? 'true' : undefined}
              className={classes(
                'flex w-full flex-col gap-0.5 p-2 text-start',
                id === shownId ? 'bg-selected' : 'hover:bg-hover',
              )}
            >
              <span className="flex w-full items-center gap-2">
                <bdi className="one-line grow font-medium">{desk}</bdi>
                {state === 'HANDED_OVER' && (
                  <Badge tone="medium" icon="time">
                    {t('states.HANDED_OVER')}
                  </Badge>
                )}
              </span>
              <span className="flex w-full flex-wrap gap-x-3 text-sm text-muted">
                <bdi>{lead.name}</bdi>
                <Moment at={startedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface StartDialogProps {
  readonly onClose: () => void;
  readonly onStarted: (shift: Shift) => void;
}

/** A form that starts a shift. */
function StartDialog({ onClose, onStarted }: StartDialogProps) {
  const { t } = useTranslation('shift');
  const form = useForm({
    keep: null,
    read: (entered) => ({ desk: entered.text('desk') || undefined, memberIds: peopleIn(entered) }),
    save: (input) => api.shifts.start.mutate(input),
    onSuccess: (shift) => {
      readLogAgain();
      onStarted(shift);
    },
  });
  return (
    <FormDialog title={t('start')} form={form} onClose={onClose} action={t('start')}>
      <Field label={t('desk')} name="desk" hint={t('deskHint')} maxLength={50} error={form.errorOf('desk')} />
      <People />
    </FormDialog>
  );
}
