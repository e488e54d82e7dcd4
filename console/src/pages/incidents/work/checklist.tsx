import type { IncidentWork } from '@gantry/contract/incident-work';
import type { IncidentDetail } from '@gantry/contract/incidents';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { useNow } from '../../../shared/time/use-time.ts';
import { Button } from '../../../ui/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useAllowed } from '../allowed.ts';
import { MessageFields } from '../message-fields.tsx';
import { useRefreshIncidents } from '../use-actions.ts';
import { useWork } from './use-work.ts';

type Step = NonNullable<IncidentWork['plan']>['steps'][number];

/** A step whose form is open. */
interface Asked {
  readonly form: 'skip' | 'reopen' | 'notify';
  readonly step: Step;
}

/** The steps of the response plan, each to be completed with a click, or skipped with a reason. */
export function Checklist({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const record = useWork();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { id, work } = incident;
  const { plan } = work;
  const maySet = allowed(incident, 'completeStep');
  const done = plan?.steps.filter(({ state }) => state !== 'OPEN').length ?? 0;
  return (
    <Panel
      title={
        plan
          ? t('plan.titleOf', { name: `\u2068${plan.name}\u2069`, n: done, of: plan.steps.length })
          : t('plan.title')
      }
    >
      <div className="flex flex-col gap-3">
        {plan ? (
          <ol className="flex flex-col gap-2">
            {plan.steps.map((step) => (
              <StepItem
                key={step.key}
                step={step}
                onDone={
                  maySet
                    ? () => void record(() => api.incidents.completeStep.mutate({ id, key: step.key }))
                    : null
                }
                onReopen={allowed(incident, 'reopenStep') ? () => setAsked({ form: 'reopen', step }) : null}
                onAsk={(form) => setAsked({ form, step })}
              />
            ))}
          </ol>
        ) : (
          <p className="text-muted">{t('plan.none')}</p>
        )}
        {allowed(incident, 'setPlan') && <PlanChoice incident={incident} />}
      </div>
      {asked && asked.form !== 'notify' && (
        <ReasonDialog action={asked.form} incidentId={id} step={asked.step} onClose={() => setAsked(null)} />
      )}
      {asked?.form === 'notify' && (
        <NotifyDialog incidentId={id} step={asked.step} onClose={() => setAsked(null)} />
      )}
    </Panel>
  );
}

const DUE_TICK_MS = 30_000;

interface StepItemProps {
  readonly step: Step;
  readonly onDone: (() => void) | null;
  readonly onReopen: (() => void) | null;
  readonly onAsk: (form: Asked['form']) => void;
}

function StepItem({ step, onDone, onReopen, onAsk }: StepItemProps) {
  const { t } = useTranslation('incidents');
  const now = useNow(DUE_TICK_MS);
  const { text, kind, state, required, by, at, dueAt, reason } = step;
  const isOpen = state === 'OPEN';
  const isLate = isOpen && dueAt !== null && dueAt.getTime() < now;
  return (
    <li aria-label={text} className="flex flex-col gap-1">
      <p className={classes('flex gap-2', !isOpen && 'text-muted')}>
        <Icon name={state === 'DONE' ? 'good' : state === 'SKIPPED' ? 'none' : 'less'} className="mt-0.5" />
        <span className="min-w-0">
          <bdi>{text}</bdi>
          {required && isOpen && <span className="text-sm text-high"> {t('plan.required')}</span>}
        </span>
      </p>
      {isOpen && dueAt && (
        <p className={classes('ps-6 text-sm', isLate ? 'text-critical' : 'text-muted')}>
          {t(isLate ? 'plan.late' : 'plan.due')} <Moment at={dueAt} as="time" />
        </p>
      )}
      {!isOpen && (
        <p className="ps-6 text-sm text-muted">
          {t(`plan.states.${state}`)} <bdi>{by?.name}</bdi> {at && <Moment at={at} as="time" />}
          {reason !== null && (
            <>
              {' · '}
              <bdi>{reason}</bdi>
            </>
          )}
        </p>
      )}
      {!isOpen && onReopen && (
        <p className="ps-6">
          <Button kind="quiet" icon="undo" aria-label={t('plan.reopenStep', { text })} onClick={onReopen}>
            {t('plan.reopen')}
          </Button>
        </p>
      )}
      {isOpen && onDone && (
        <div className="flex flex-wrap gap-1.5 ps-6">
          {kind === 'NOTIFY' && (
            <Button icon="send" onClick={() => onAsk('notify')}>
              {t('plan.notify')}
            </Button>
          )}
          <Button icon="acknowledge" aria-label={t('plan.complete', { text })} onClick={onDone}>
            {t('plan.done')}
          </Button>
          <Button kind="quiet" aria-label={t('plan.skipStep', { text })} onClick={() => onAsk('skip')}>
            {t('plan.skip')}
          </Button>
        </div>
      )}
    </li>
  );
}

function PlanChoice({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const record = useWork();
  const { data } = useQuery(service.plans.getAll.queryOptions());
  const { id, work } = incident;
  const plans = data?.plans ?? [];
  if (plans.length === 0) return null;
  const present = work.plan?.planId ?? '';
  const options = plans.map((plan) => ({ value: plan.id, label: plan.name }));
  const former =
    work.plan && !plans.some((plan) => plan.id === present)
      ? [{ value: present, label: work.plan.name }]
      : [];
  return (
    <Select
      label={t('plan.choose')}
      value={present}
      options={[{ value: '', label: t('plan.noPlan') }, ...former, ...options]}
      onChange={(planId) => void record(() => api.incidents.setPlan.mutate({ id, planId: planId || null }))}
    />
  );
}

interface StepDialogProps {
  readonly incidentId: string;
  readonly step: Step;
  readonly onClose: () => void;
}

interface ReasonDialogProps extends StepDialogProps {
  readonly action: 'skip' | 'reopen';
}

/** A form that skips a step, or opens it again, with a reason. */
function ReasonDialog({ action, incidentId, step, onClose }: ReasonDialogProps) {
  const { t } = useTranslation('incidents');
  const refresh = useRefreshIncidents();
  const form = useForm({
    keep: `${action} ${incidentId} ${step.key}`,
    read: (entered) => ({ id: incidentId, key: step.key, reason: entered.text('reason') }),
    save: (input) =>
      action === 'skip' ? api.incidents.skipStep.mutate(input) : api.incidents.reopenStep.mutate(input),
    onSuccess: () => {
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog title={t(`plan.${action}`)} form={form} onClose={onClose} action={t(`plan.${action}`)}>
      <bdi className="text-muted">{step.text}</bdi>
      <Field
        label={t('note.reason')}
        name="reason"
        maxLength={500}
        required
        autoFocus
        error={form.errorOf('reason')}
      />
    </FormDialog>
  );
}

/** Shows the notice of a step before it is sent. */
function NotifyDialog({ incidentId, step, onClose }: StepDialogProps) {
  const { t } = useTranslation('incidents');
  const { data, error } = useQuery({
    ...service.incidents.getStepNotice.queryOptions({ id: incidentId, key: step.key }),
    retry: false,
  });
  if (data) return <NoticeForm notice={data} incidentId={incidentId} step={step} onClose={onClose} />;
  return (
    <Dialog title={t('plan.notify')} open onClose={onClose}>
      {error ? <Failure error={error} /> : <Skeleton rows={3} />}
    </Dialog>
  );
}

interface NoticeFormProps extends StepDialogProps {
  readonly notice: {
    readonly agency: string;
    readonly to: string;
    readonly subject: string;
    readonly text: string;
  };
}

function NoticeForm({ notice, incidentId, step, onClose }: NoticeFormProps) {
  const { t } = useTranslation('incidents');
  const refresh = useRefreshIncidents();
  const form = useForm({
    keep: `notice ${incidentId} ${step.key}`,
    read: (entered) => ({
      id: incidentId,
      key: step.key,
      to: notice.to,
      subject: entered.text('subject'),
      text: entered.text('text'),
    }),
    save: (input) => api.incidents.sendStepNotice.mutate(input),
    onSuccess: () => {
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog title={t('plan.notify')} form={form} onClose={onClose} action={t('plan.send')} width="wide">
      <p>
        <bdi className="font-medium">{notice.agency}</bdi>{' '}
        <bdi dir="ltr" className="text-muted">
          {notice.to}
        </bdi>
      </p>
      <MessageFields message={notice} errorOf={form.errorOf} />
    </FormDialog>
  );
}
