import type { Agency } from '@gantry/contract/agencies';
import { agencyKinds } from '@gantry/contract/incident-states';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { ConfirmDialog, FormDialog } from '../../../shared/form/form-dialog.tsx';
import { changesOf } from '../../../shared/form/seen.ts';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Loaded } from '../../../shared/page/resource-page.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Field } from '../../../ui/field.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { ChoiceField } from '../../../ui/select.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';

const readAgain = () => void queryClient.invalidateQueries({ queryKey: service.agencies.pathKey() });

type Opened = { readonly edited: Agency | null } | { readonly deleted: Agency };

/** The agencies that can be called to incidents. */
export function AgenciesPage() {
  const { t } = useTranslation(['administration', 'common']);
  const query = useQuery(service.agencies.getAll.queryOptions({}));
  const [opened, setOpened] = useState<Opened | null>(null);
  const create = () => setOpened({ edited: null });
  const close = () => setOpened(null);
  useShortcuts([{ keys: 'n', label: t('agencies.create'), scope: 'page', run: create }]);
  const add = (
    <Button kind="primary" icon="add" onClick={create}>
      {t('agencies.create')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('agencies.title')}>{add}</PageHeader>
      <Loaded query={query}>
        {({ agencies }) =>
          agencies.length === 0 ? (
            <Empty icon="users" title={t('agencies.none')} action={add}>
              {t('agencies.noneText')}
            </Empty>
          ) : (
            <div className="min-h-0 grow overflow-y-auto p-4">
              <AgencyTable
                agencies={agencies}
                onEdit={(edited) => setOpened({ edited })}
                onDelete={(deleted) => setOpened({ deleted })}
              />
            </div>
          )
        }
      </Loaded>
      {opened && 'edited' in opened && <AgencyDialog agency={opened.edited} onClose={close} />}
      {opened && 'deleted' in opened && (
        <ConfirmDialog
          title={t('agencies.deleteTitle')}
          action={t('common:dialog.delete')}
          run={() => api.agencies.delete.mutate({ id: opened.deleted.id })}
          onDone={() => {
            readAgain();
            close();
          }}
          onClose={close}
        >
          <bdi className="font-semibold">{opened.deleted.name}</bdi>
          <p>{t('agencies.deleteText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface AgencyTableProps {
  readonly agencies: readonly Agency[];
  readonly onEdit: (agency: Agency) => void;
  readonly onDelete: (agency: Agency) => void;
}

function AgencyTable({ agencies, onEdit, onDelete }: AgencyTableProps) {
  const { t } = useTranslation('administration');
  return (
    <ScrolledTable
      label={t('agencies.title')}
      head="bg-surface"
      rows={agencies}
      keyOf={({ id }) => id}
      columns={[
        { header: t('agencies.name'), cell: ({ name }) => <bdi>{name}</bdi> },
        { header: t('agencies.kind'), cell: ({ kind }) => t(`agencies.kinds.${kind}`) },
        { header: t('agencies.phone'), isLeftToRight: true, cell: ({ phone }) => phone },
        { header: t('agencies.email'), isLeftToRight: true, cell: ({ email }) => email },
        { header: t('agencies.areas'), cell: ({ areas }) => <bdi>{areas.join(', ')}</bdi> },
        {
          header: t('agencies.actions'),
          hideHeader: true,
          cell: (agency) => (
            <span className="flex justify-end">
              <Button
                kind="quiet"
                icon="edit"
                iconOnly
                aria-label={t('agencies.edit', { name: agency.name })}
                onClick={() => onEdit(agency)}
              />
              <Button
                kind="quiet"
                icon="delete"
                iconOnly
                aria-label={t('agencies.delete', { name: agency.name })}
                onClick={() => onDelete(agency)}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

function AgencyDialog({ agency, onClose }: { readonly agency: Agency | null; readonly onClose: () => void }) {
  const { t } = useTranslation('administration');
  const form = useForm({
    keep: `agency ${agency?.id ?? ''}`,
    read: (entered) => ({
      name: entered.text('name'),
      kind: entered.text('kind') as Agency['kind'],
      phone: entered.textOrNull('phone'),
      email: entered.textOrNull('email'),
      areas: entered
        .text('areas')
        .split(/[,،\n]/)
        .map((area) => area.trim())
        .filter((area) => area !== ''),
    }),
    save: async (fields) => {
      if (agency === null) await api.agencies.create.mutate(fields);
      else await api.agencies.update.mutate({ id: agency.id, ...changesOf(agency, fields) });
    },
    onSuccess: () => {
      readAgain();
      onClose();
    },
  });
  const text = (name: 'name' | 'phone' | 'email' | 'areas') => ({
    label: t(`agencies.${name}`),
    name,
    error: form.errorOf(name),
  });
  return (
    <FormDialog
      title={agency === null ? t('agencies.create') : t('agencies.edit', { name: agency.name })}
      form={form}
      onClose={onClose}
    >
      <Field {...text('name')} defaultValue={agency?.name} maxLength={100} required autoFocus />
      <ChoiceField
        label={t('agencies.kind')}
        name="kind"
        defaultValue={agency?.kind ?? 'POLICE'}
        options={agencyKinds.map((value) => ({ value, label: t(`agencies.kinds.${value}`) }))}
      />
      <Field {...text('phone')} defaultValue={agency?.phone ?? ''} maxLength={50} dir="ltr" type="tel" />
      <Field {...text('email')} defaultValue={agency?.email ?? ''} dir="ltr" hint={t('agencies.emailHint')} />
      <Field
        {...text('areas')}
        defaultValue={agency?.areas.join(', ') ?? ''}
        hint={t('agencies.areasHint')}
      />
    </FormDialog>
  );
}
