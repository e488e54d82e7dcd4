import type { CaseRules, UpdateCaseRulesInput } from '@gantry/contract/cases';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames, violations } from '../../../shared/events/codes.ts';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { KeptState } from '../../../shared/form/use-kept.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Loaded } from '../../../shared/page/resource-page.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { queryClient } from '../../../shared/service/queries.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { ChoiceField } from '../../../ui/select.tsx';

/** Which violations become cases by themselves, and which of them need a second person. */
export function CaseRulesPage() {
  const { t } = useTranslation('administration');
  const query = useQuery(service.cases.getRules.queryOptions());
  return (
    <>
      <PageHeader title={t('cases.title')} />
      <Loaded query={query}>{(rules) => <Rules rules={rules} />}</Loaded>
    </>
  );
}

const sameCode = (one: string, other: string): boolean => one.toUpperCase() === other.toUpperCase();

/** The types of the table: the usual ones, those that the rules name, and those that were added. */
function typesOf({ secondPerson, openFor }: CaseRules, added: readonly string[]): readonly string[] {
  const types: string[] = [...violations];
  for (const type of [...Object.keys(secondPerson), ...openFor, ...added])
    if (!types.some((each) => sameCode(each, type))) types.push(type);
  return types;
}

function read(entered: Entered, types: readonly string[]): UpdateCaseRulesInput {
  const withOne = types.filter((type) => !entered.checked(`second ${type}`));
  return {
    openFor: types.filter((type) => entered.checked(`open ${type}`)),
    // A second person is the rule, so that only exceptions are stored.
    secondPerson: Object.fromEntries(withOne.map((type) => [type, false])),
    openOn: entered.text('openOn') as CaseRules['openOn'],
  };
}

function Rules({ rules }: { readonly rules: CaseRules }) {
  const { t } = useTranslation('administration');
  const { say } = useNotices();
  const [added, setAdded] = useState<readonly string[]>([]);
  const types = typesOf(rules, added);
  const form = useForm({
    keep: 'rules of cases',
    read: (entered) => read(entered, types),
    save: (input) => api.cases.updateRules.mutate(input),
    onSuccess: () => {
      say(t('cases.saved'));
      void queryClient.invalidateQueries({ queryKey: service.cases.pathKey() });
    },
  });
  return (
    <form
      ref={form.ref}
      onSubmit={form.submit}
      className="flex min-h-0 max-w-3xl grow flex-col gap-3 overflow-y-auto px-4 py-3"
    >
      <KeptState name="added" value={added} onRestore={setAdded} />
      <p className="text-muted">{t('cases.text')}</p>
      <Panel title={t('cases.types')} isFull>
        <Types rules={rules} types={types} />
        <AddType onAdd={(type) => setAdded((all) => [...all, type])} />
      </Panel>
      <ChoiceField
        label={t('cases.openOn')}
        name="openOn"
        defaultValue={rules.openOn}
        options={(['CONFIRMED', 'ARRIVAL'] as const).map((value) => ({
          value,
          label: t(`cases.openOns.${value}`),
        }))}
      />
      <p className="text-muted">
        {t('cases.kept')}{' '}
        <Link to="/administration/storage" className="text-accent underline">
          {t('parts.storage')}
        </Link>
      </p>
      {form.failure && <Failure error={form.failure} />}
      <Button kind="primary" type="submit" className="self-start" disabled={form.isSaving}>
        {t('cases.save')}
      </Button>
    </form>
  );
}

function Types({ rules, types }: { readonly rules: CaseRules; readonly types: readonly string[] }) {
  const { t } = useTranslation('administration');
  const names = useCodeNames();
  const needsSecond = (type: string) =>
    Object.entries(rules.secondPerson).find(([name]) => sameCode(name, type))?.[1] ?? true;
  const box = (name: string, label: string, isChecked: boolean) => (
    <td className="border-b px-3 text-center">
      <label className="inline-grid size-8 place-items-center pointer-coarse:size-11">
        <span className="sr-only">{label}</span>
        <input type="checkbox" name={name} defaultChecked={isChecked} className="size-4 accent-accent" />
      </label>
    </td>
  );
  return (
    <table className="w-full border-separate border-spacing-0">
      <thead>
        <tr className="text-sm text-muted">
          <th scope="col" className="border-b px-3 py-1 text-start font-medium">
            {t('cases.type')}
          </th>
          <th scope="col" className="border-b px-3 py-1 font-medium">
            {t('cases.opens')}
          </th>
          <th scope="col" className="border-b px-3 py-1 font-medium">
            {t('cases.second')}
          </th>
        </tr>
      </thead>
      <tbody>
        {types.map((type) => (
          <tr key={type}>
            <th scope="row" className="border-b px-3 text-start font-normal">
              <bdi>{names.violation(type)}</bdi>
            </th>
            {box(
              `open ${type}`,
              t('cases.opensOf', { type: names.violation(type) }),
              rules.openFor.some((each) => sameCode(each, type)),
            )}
            {box(`second ${type}`, t('cases.secondOf', { type: names.violation(type) }), needsSecond(type))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Adds a type of violation that has no name here, such as a code of a maker. */
function AddType({ onAdd }: { readonly onAdd: (type: string) => void }) {
  const { t } = useTranslation('administration');
  const [type, setType] = useState('');
  const add = () => {
    if (type.trim() !== '') onAdd(type.trim());
    setType('');
  };
  return (
    <div className="flex flex-wrap items-end gap-2 p-3 print:hidden">
      <Field
        label={t('cases.otherType')}
        value={type}
        maxLength={200}
        className="grow"
        onChange={({ target }) => setType(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button icon="add" onClick={add}>
        {t('cases.addType')}
      </Button>
    </div>
  );
}
