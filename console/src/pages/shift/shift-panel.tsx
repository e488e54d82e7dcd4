import type { ShiftDetail } from '@gantry/contract/shifts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Faster, isConflict } from '../../shared/conflict/faster.tsx';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { readLogAgain } from '../../shared/log/read-again.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay, useUser } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { People, peopleIn } from './people.tsx';
import { SummaryView } from './summary-view.tsx';

/** What others do appears within this time, in milliseconds. */
const POLL_MS = 10_000;

interface ShiftPanelProps {
  readonly id: string;
  /** Called with the shift that begins when the user takes over. */
  readonly onNext: (id: string) => void;
}

/** One shift: who is on duty, and what it hands over. */
export function ShiftPanel({ id, onNext }: ShiftPanelProps) {
  const { t } = useTranslation('shift');
  const { data, error, refetch } = useQuery({
    ...service.shifts.getById.queryOptions({ id }),
    refetchInterval: ({ state }) => (state.data?.state === 'ENDED' ? false : POLL_MS),
  });
  const [prepares, setPrepares] = useState(false);
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={6} />;
  const { desk, state, summary, remarks } = data;
  return (
    <div className="flex max-w-5xl flex-col gap-3">
      <Panel
        title={desk}
        actions={
          <>
            {state === 'OPEN' && !prepares && (
              <Button kind="primary" icon="next" onClick={() => setPrepares(true)}>
                {t('prepare')}
              </Button>
            )}
            <Close shift={data} />
          </>
        }
      >
        <ShiftFacts shift={data} />
      </Panel>
      {state === 'OPEN' && prepares && <Prepared id={id} onClose={() => setPrepares(false)} />}
      {state === 'HANDED_OVER' && <Accept shift={data} onNext={onNext} />}
      {remarks !== null && (
        <Panel title={t('remarks')}>
          <p className="whitespace-pre-wrap wrap-anywhere">
            <bdi>{remarks}</bdi>
          </p>
        </Panel>
      )}
      {summary && <SummaryView summary={summary} />}
    </div>
  );
}

function ShiftFacts({ shift }: { readonly shift: ShiftDetail }) {
  const { t } = useTranslation('shift');
  const { id, lead, members, startedAt, handedOverAt, handedOverBy, endedAt, acceptedBy, closedBy, entries } =
    shift;
  const at = (time: Date | null, by: { readonly name: string } | null): ReactNode =>
    time && (
      <>
        <Moment at={time} /> {by && <bdi>{by.name}</bdi>}
      </>
    );
  return (
    <Facts
      facts={[
        [t('lead'), <bdi key="lead">{lead.name}</bdi>],
        [
          t('others'),
          members.length > 0 && <bdi key="members">{members.map(({ name }) => name).join(', ')}</bdi>,
        ],
        [t('started'), <Moment key="started" at={startedAt} />],
        [
          t('log'),
          <Link key="log" to="/log" search={{ shiftId: id }} className="text-accent underline">
            {t('entries', { count: entries })}
          </Link>,
        ],
        [t('states.HANDED_OVER'), at(handedOverAt, handedOverBy)],
        [t('accepted'), acceptedBy && at(endedAt, acceptedBy)],
        [t('closed'), closedBy && at(endedAt, closedBy)],
        [t('reason'), shift.closeReason && <bdi key="reason">{shift.closeReason}</bdi>],
      ]}
    />
  );
}

/** What would be handed over now, with the remarks and the button that hands over. */
function Prepared({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTranslation(['shift', 'common']);
  const { say } = useNotices();
  const { data, error, refetch } = useQuery(service.shifts.prepare.queryOptions({ id }));
  const form = useForm({
    keep: `hand-over ${id}`,
    read: (entered) => ({ id, remarks: entered.textOrNull('remarks') }),
    save: (input) => api.shifts.handOver.mutate(input),
    onSuccess: () => {
      say(t('handedOver'));
      readLogAgain();
    },
  });
  return (
    <>
      <Panel title={t('prepared')}>
        <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
          <p className="text-muted">{t('preparedText')}</p>
          <Field
            label={t('remarks')}
            name="remarks"
            lines={3}
            maxLength={4000}
            error={form.errorOf('remarks')}
            autoFocus
          />
          {form.failure &&
            (isConflict(form.failure) ? <Faster error={form.failure} /> : <Failure error={form.failure} />)}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
            <Button kind="primary" type="submit" disabled={form.isSaving || !data}>
              {t('handOver')}
            </Button>
          </div>
        </form>
      </Panel>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={6} />}
      {data && <SummaryView summary={data.summary} />}
    </>
  );
}

/** Takes over what was handed over, unless the user handed it over. */
function Accept({ shift, onNext }: { readonly shift: ShiftDetail; readonly onNext: (id: string) => void }) {
  const { t } = useTranslation('shift');
  const user = useUser();
  const form = useForm({
    keep: null,
    read: (entered) => ({ id: shift.id, memberIds: peopleIn(entered) }),
    save: (input) => api.shifts.accept.mutate(input),
    onSuccess: ({ id }) => {
      readLogAgain();
      onNext(id);
    },
  });
  if (shift.handedOverBy?.id === user.id) return <p className="text-muted">{t('waits')}</p>;
  return (
    <Panel title={t('takeOver')}>
      <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
        <p className="text-muted">{t('takeOverText')}</p>
        <People />
        {form.failure &&
          (isConflict(form.failure) ? <Faster error={form.failure} /> : <Failure error={form.failure} />)}
        <Button
          kind="primary"
          type="submit"
          icon="acknowledge"
          className="self-start"
          disabled={form.isSaving}
        >
          {t('accept')}
        </Button>
      </form>
    </Panel>
  );
}

/** Ends a shift that nobody takes over, for administrators. */
function Close({ shift }: { readonly shift: ShiftDetail }) {
  const { t } = useTranslation('shift');
  const [isOpen, setOpen] = useState(false);
  const mayClose = useMay('systemSettings');
  const form = useForm({
    keep: null,
    read: (entered) => ({ id: shift.id, reason: entered.text('reason') }),
    save: (input) => api.shifts.close.mutate(input),
    onSuccess: () => {
      readLogAgain();
      setOpen(false);
    },
  });
  if (!mayClose || shift.state === 'ENDED') return null;
  return (
    <>
      <Button icon="close" onClick={() => setOpen(true)}>
        {t('close')}
      </Button>
      {isOpen && (
        <FormDialog title={t('close')} form={form} onClose={() => setOpen(false)} action={t('close')}>
          <p className="text-muted">{t('closeText')}</p>
          <Field label={t('reason')} name="reason" maxLength={500} error={form.errorOf('reason')} required />
        </FormDialog>
      )}
    </>
  );
}
