import type { Plan } from '@gantry/contract/plans';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Loaded } from '../../../shared/page/resource-page.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { PlanDialog } from './plan-dialog.tsx';

type Opened = { readonly edited: Plan | null } | { readonly deleted: Plan };

const readAgain = () => void queryClient.invalidateQueries({ queryKey: service.plans.pathKey() });

/** The response plans, which say what is to be done at incidents. */
export function PlansPage() {
  const { t } = useTranslation(['administration', 'common']);
  const query = useQuery(service.plans.getAll.queryOptions());
  const [opened, setOpened] = useState<Opened | null>(null);
  const create = () => setOpened({ edited: null });
  const close = () => setOpened(null);
  const done = () => {
    readAgain();
    close();
  };
  useShortcuts([{ keys: 'n', label: t('plans.create'), scope: 'page', run: create }]);
  const add = (
    <Button kind="primary" icon="add" onClick={create}>
      {t('plans.create')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('plans.title')}>{add}</PageHeader>
      <Loaded query={query}>
        {({ plans }) =>
          plans.length === 0 ? (
            <Empty icon="list" title={t('plans.none')}>
              {t('plans.noneText')}
            </Empty>
          ) : (
            <div className="min-h-0 grow overflow-y-auto p-4">
              <PlanTable
                plans={plans}
                onEdit={(edited) => setOpened({ edited })}
                onDelete={(deleted) => setOpened({ deleted })}
              />
            </div>
          )
        }
      </Loaded>
      {opened && 'edited' in opened && <PlanDialog plan={opened.edited} onClose={close} onSaved={done} />}
      {opened && 'deleted' in opened && (
        <ConfirmDialog
          title={t('plans.deleteTitle')}
          action={t('common:dialog.delete')}
          run={() => api.plans.delete.mutate({ id: opened.deleted.id })}
          onDone={done}
          onClose={close}
        >
          <bdi className="font-semibold">{opened.deleted.name}</bdi>
          <p>{t('plans.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface PlanTableProps {
  readonly plans: readonly Plan[];
  readonly onEdit: (plan: Plan) => void;
  readonly onDelete: (plan: Plan) => void;
}

function PlanTable({ plans, onEdit, onDelete }: PlanTableProps) {
  const { t } = useTranslation(['administration', 'common']);
  return (
    <ScrolledTable
      label={t('plans.title')}
      head="bg-surface"
      rows={plans}
      keyOf={({ id }) => id}
      columns={[
        { header: t('plans.name'), cell: ({ name }) => <bdi>{name}</bdi> },
        {
          header: t('plans.types'),
          cell: ({ incidentTypes }) =>
            incidentTypes.length === 0
              ? t('plans.allTypes')
              : incidentTypes.map((type) => t(`common:incidentTypes.${type}`)).join(', '),
        },
        { header: t('plans.minSeverity'), cell: ({ minSeverity }) => t(`common:severity.${minSeverity}`) },
        { header: t('plans.roads'), cell: ({ roads }) => <bdi>{roads.join(', ')}</bdi> },
        { header: t('plans.steps'), isFigure: true, cell: ({ steps }) => steps.length },
        { header: t('plans.version'), isFigure: true, cell: ({ version }) => version },
        { header: t('plans.enabled'), cell: ({ isEnabled }) => t(isEnabled ? 'yes' : 'no') },
        {
          header: t('plans.actions'),
          hideHeader: true,
          cell: (plan) => (
            <span className="flex justify-end">
              <Button
                kind="quiet"
                icon="edit"
                iconOnly
                aria-label={t('plans.edit', { name: plan.name })}
                onClick={() => onEdit(plan)}
              />
              <Button
                kind="quiet"
                icon="delete"
                iconOnly
                aria-label={t('plans.delete', { name: plan.name })}
                onClick={() => onDelete(plan)}
              />
            </span>
          ),
        },
      ]}
    />
  );
}
