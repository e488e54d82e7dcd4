import type { AlarmRule } from '@gantry/contract/alarm-rules';
import type { Policy } from '@gantry/contract/alarms';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { SeverityBadge } from '../../../shared/status/badges.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { LinkButton } from '../../../ui/links.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { PolicyDialog } from './policy-dialog.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { type Targets, useTargets } from './targets.ts';
import { useSentence } from './use-sentence.ts';

/** The dialog that is open, and about what. */
type Open =
  | { readonly dialog: 'rule'; readonly rule?: AlarmRule; readonly isTurnedOn?: true }
  | { readonly dialog: 'policy'; readonly policy?: Policy }
  | { readonly dialog: 'deleteRule'; readonly rule: AlarmRule }
  | { readonly dialog: 'deletePolicy'; readonly policy: Policy };

/** Largest page of the lists. */
const PAGE = 100;

async function loadRules(): Promise<AlarmRule[]> {
  const { rules, total } = await api.alarmRules.getAll.query({ take: PAGE });
  while (rules.length < total) {
    const next = await api.alarmRules.getAll.query({ take: PAGE, skip: rules.length });
    if (next.rules.length === 0) break;
    rules.push(...next.rules);
  }
  return rules;
}

/** The rules of alarms, and the policies that say who is told. */
export function AlarmRulesPage() {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const [open, setOpen] = useState<Open | null>(null);
  const rules = useQuery({ queryKey: service.alarmRules.getAll.queryKey(), queryFn: loadRules });
  const policies = useQuery(service.policies.getAll.queryOptions({ take: PAGE }));
  const targets = useTargets();
  const known = policies.data?.policies ?? [];
  const close = () => setOpen(null);
  const refresh = () => {
    close();
    void queryClient.invalidateQueries({ queryKey: service.alarmRules.pathKey() });
    void queryClient.invalidateQueries({ queryKey: service.policies.pathKey() });
  };
  const create = () => setOpen({ dialog: 'rule' });
  useShortcuts([{ keys: 'n', label: t('alarmRules.create'), scope: 'page', run: create }]);
  const error = rules.error ?? policies.error;
  const isTold = rules.data?.some(({ enabled, policyId }) => enabled && policyId !== null);
  return (
    <>
      <PageHeader title={t('alarmRules.title')}>
        <LinkButton to="/alarms" icon="alert">
          {t('alarmRules.alarms')}
        </LinkButton>
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="flex max-w-6xl flex-col gap-3">
          {error && <Failure error={error} onRetry={refresh} />}
          {isTold === false && policies.data && targets.channels !== null && (
            <FirstSteps hasChannel={targets.channels > 0} hasPolicy={known.length > 0} />
          )}
          <Panel
            title={t('policies.title')}
            isFull
            actions={
              <Button icon="add" onClick={() => setOpen({ dialog: 'policy' })}>
                {t('policies.create')}
              </Button>
            }
          >
            {policies.data && known.length === 0 && <p className="p-3 text-muted">{t('policies.none')}</p>}
            <ul aria-label={t('policies.title')}>
              {known.map((policy) => (
                <PolicyItem key={policy.id} policy={policy} targets={targets} onOpen={setOpen} />
              ))}
            </ul>
          </Panel>
          <Panel
            title={t('alarmRules.rules')}
            isFull
            actions={
              <Button icon="add" onClick={create}>
                {t('alarmRules.create')}
              </Button>
            }
          >
            {!rules.data && !rules.error && <Skeleton rows={5} />}
            {rules.data?.length === 0 && <p className="p-3 text-muted">{t('alarmRules.none')}</p>}
            <ul aria-label={t('alarmRules.rules')}>
              {rules.data?.map((rule) => (
                <RuleItem key={rule.id} rule={rule} onOpen={setOpen} onChanged={refresh} />
              ))}
            </ul>
          </Panel>
        </div>
      </div>
      {open?.dialog === 'rule' && policies.data && (
        <RuleDialog
          rule={open.rule}
          policies={known}
          isTurnedOn={open.isTurnedOn === true}
          onClose={close}
          onSaved={refresh}
        />
      )}
      {open?.dialog === 'policy' && (
        <PolicyDialog policy={open.policy} targets={targets} onClose={close} onSaved={refresh} />
      )}
      {open?.dialog === 'deleteRule' && (
        <ConfirmDialog
          title={t('alarmRules.deleteTitle')}
          action={t('alarmRules.deleteAction')}
          run={() => api.alarmRules.delete.mutate({ id: open.rule.id })}
          onDone={() => {
            say(t('alarmRules.deleted'));
            refresh();
          }}
          onClose={close}
        >
          <bdi className="font-semibold">{open.rule.name}</bdi>
          <p>{t('alarmRules.deleteText')}</p>
        </ConfirmDialog>
      )}
      {open?.dialog === 'deletePolicy' && (
        <ConfirmDialog
          title={t('policies.deleteTitle')}
          action={t('policies.deleteAction')}
          run={() => api.policies.delete.mutate({ id: open.policy.id })}
          onDone={() => {
            say(t('policies.deleted'));
            refresh();
          }}
          onClose={close}
        >
          <bdi className="font-semibold">{open.policy.name}</bdi>
          <p>{t('policies.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** What is left to do until somebody is told of alarms. */
function FirstSteps({
  hasChannel,
  hasPolicy,
}: {
  readonly hasChannel: boolean;
  readonly hasPolicy: boolean;
}) {
  const { t } = useTranslation('administration');
  const steps = [
    { name: 'channel', isDone: hasChannel },
    { name: 'policy', isDone: hasPolicy },
    { name: 'rule', isDone: false },
  ] as const;
  return (
    <Panel title={t('alarmRules.nobodyTold')}>
      <ol className="flex list-decimal flex-col gap-1 ps-5">
        {steps.map(({ name, isDone }) => (
          <li key={name} className={isDone ? 'text-muted' : undefined}>
            {isDone && <Icon name="good" className="me-1 inline" />}
            {name === 'channel' ? (
              <Link to="/administration/channels" className="text-accent underline">
                {t('alarmRules.steps.channel')}
              </Link>
            ) : (
              t(`alarmRules.steps.${name}`)
            )}
            {isDone && <span className="sr-only"> {t('alarmRules.done')}</span>}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

interface PolicyItemProps {
  readonly policy: Policy;
  readonly targets: Targets;
  readonly onOpen: (open: Open) => void;
}

/** A policy as a line of steps. */
function PolicyItem({ policy, targets, onOpen }: PolicyItemProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { name, steps, rules } = policy;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-48 grow">
        <p className="flex flex-wrap gap-x-2">
          <bdi className="font-medium">{name}</bdi>
          <span className="text-muted">{t('policies.rules', { count: rules })}</span>
        </p>
        <ol className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {steps.map(({ afterMinutes, to, whileNot }, n) => (
            <li key={afterMinutes} className="flex flex-wrap items-center gap-x-2">
              {n > 0 && <Icon name="next" className="text-muted" />}
              <span className="text-sm text-muted">
                {n === 0 ? t('policies.atOnce') : t(`policies.after.${whileNot}`, { count: afterMinutes })}
              </span>
              <bdi>{to.map((target) => targets.nameOf(target)).join(', ')}</bdi>
            </li>
          ))}
        </ol>
      </div>
      <Button
        icon="edit"
        aria-label={t('alarmRules.editOf', { name })}
        onClick={() => onOpen({ dialog: 'policy', policy })}
      >
        {t('users.edit')}
      </Button>
      <Button
        kind="danger"
        icon="delete"
        aria-label={t('rotas.deleteOf', { name })}
        onClick={() => onOpen({ dialog: 'deletePolicy', policy })}
      >
        {t('common:dialog.delete')}
      </Button>
    </li>
  );
}

interface RuleItemProps {
  readonly rule: AlarmRule;
  readonly onOpen: (open: Open) => void;
  readonly onChanged: () => void;
}

function RuleItem({ rule, onOpen, onChanged }: RuleItemProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { sayFailure } = useNotices();
  const { id, name, enabled, severity, policyName, firing } = rule;
  const sentenceOf = useSentence();
  const turn = useMutation({
    mutationFn: () => api.alarmRules.update.mutate({ id, enabled: !enabled }),
    onSuccess: onChanged,
    onError: sayFailure,
  });
  // Of a rule without a policy nobody would be told, so the dialog asks for one.
  const enable = () =>
    policyName === null ? onOpen({ dialog: 'rule', rule, isTurnedOn: true }) : turn.mutate();
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-48 grow basis-96">
        <p className="flex flex-wrap items-center gap-x-2">
          <bdi className="font-medium">{name}</bdi>
          <SeverityBadge severity={severity} filled={false} />
          <StateBadge state={enabled ? 'webhooks.enabled' : 'webhooks.disabled'} />
          {enabled && policyName === null && (
            <Badge tone="medium" icon="muted">
              {t('alarmRules.noPolicy')}
            </Badge>
          )}
          {policyName !== null && (
            <span className="text-muted">
              <bdi>{policyName}</bdi>
            </span>
          )}
          {firing > 0 && (
            <Badge tone="high" icon="alert">
              {t('alarmRules.firing', { count: firing })}
            </Badge>
          )}
        </p>
        <p className="text-sm text-muted">
          <bdi>{sentenceOf(rule)}</bdi>
        </p>
      </div>
      <Button
        icon="edit"
        aria-label={t('alarmRules.editOf', { name })}
        onClick={() => onOpen({ dialog: 'rule', rule })}
      >
        {t('users.edit')}
      </Button>
      <Button
        icon={enabled ? 'muted' : 'alert'}
        disabled={turn.isPending}
        aria-label={t(enabled ? 'alarmRules.disableOf' : 'alarmRules.enableOf', { name })}
        onClick={enabled ? () => turn.mutate() : enable}
      >
        {enabled ? t('webhooks.disable') : t('webhooks.enable')}
      </Button>
      <Button
        kind="danger"
        icon="delete"
        aria-label={t('rotas.deleteOf', { name })}
        onClick={() => onOpen({ dialog: 'deleteRule', rule })}
      >
        {t('common:dialog.delete')}
      </Button>
    </li>
  );
}
