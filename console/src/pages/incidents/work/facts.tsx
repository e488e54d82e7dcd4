import { injuries } from '@gantry/contract/incident-states';
import type { IncidentFacts } from '@gantry/contract/incident-work';
import type { IncidentDetail } from '@gantry/contract/incidents';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { changesOf } from '../../../shared/form/seen.ts';
import { incidentLookUp } from '../../../shared/places/look-ups.ts';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Facts as FactList, Panel } from '../../../ui/panel.tsx';
import { ChoiceField } from '../../../ui/select.tsx';
import { useAllowed } from '../allowed.ts';
import { useRefreshIncidents } from '../use-actions.ts';

const flags = ['hazardous', 'heavyVehicle', 'responderStruck'] as const;

/** What is known of the incident besides its fields, and to which others it belongs. */
export function Facts({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation('incidents');
  const maySet = useAllowed()(incident, 'setFacts');
  const [isEditing, setEditing] = useState(false);
  const { work } = incident;
  const links = [
    ...(work.secondaryOf ? [[t('facts.secondaryOf'), [work.secondaryOf]] as const] : []),
    ...(work.secondaries.length > 0 ? [[t('facts.secondaries'), work.secondaries] as const] : []),
  ];
  const known = [
    ...(work.injured ? [[t('facts.injured'), t(`facts.injuries.${work.injured}`)] as const] : []),
    ...flags.flatMap((name) =>
      work[name] === null ? [] : [[t(`facts.${name}`), t(work[name] ? 'facts.yes' : 'facts.no')] as const],
    ),
  ];
  return (
    <Panel
      title={t('facts.title')}
      actions={
        maySet && (
          <Button
            kind="quiet"
            icon="edit"
            iconOnly
            aria-label={t('facts.edit')}
            onClick={() => setEditing(true)}
          />
        )
      }
    >
      {known.length + links.length === 0 && <p className="text-muted">{t('facts.none')}</p>}
      <FactList
        facts={[
          ...known,
          ...links.map(
            ([name, incidents]) =>
              [
                name,
                <ul key={name}>
                  {incidents.map(({ id, title }) => (
                    <li key={id}>
                      <Link
                        to="/incidents/$incidentId"
                        params={{ incidentId: id }}
                        className="text-accent underline"
                      >
                        <bdi>{title}</bdi>
                      </Link>
                    </li>
                  ))}
                </ul>,
              ] as const,
          ),
        ]}
      />
      {isEditing && <FactsDialog incident={incident} onClose={() => setEditing(false)} />}
    </Panel>
  );
}

function FactsDialog({
  incident,
  onClose,
}: {
  readonly incident: IncidentDetail;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation('incidents');
  const refresh = useRefreshIncidents();
  const { id, work } = incident;
  const { injured, hazardous, heavyVehicle, responderStruck } = work;
  const seen = {
    injured,
    hazardous,
    heavyVehicle,
    responderStruck,
    secondaryOf: work.secondaryOf?.id ?? null,
  };
  const form = useForm({
    keep: `facts ${id}`,
    read: (entered) => {
      const flag = (name: string) => {
        const text = entered.text(name);
        return text === '' ? null : text === 'yes';
      };
      return changesOf(seen, {
        injured: (entered.textOrNull('injured') ?? null) as IncidentFacts['injured'],
        hazardous: flag('hazardous'),
        heavyVehicle: flag('heavyVehicle'),
        responderStruck: flag('responderStruck'),
        secondaryOf: entered.textOrNull('secondaryOf'),
      });
    },
    save: async (changes) => {
      if (Object.keys(changes).length > 0) await api.incidents.setFacts.mutate({ id, ...changes });
    },
    onSuccess: () => {
      void refresh();
      onClose();
    },
  });
  const unknown = { value: '', label: t('facts.unknown') };
  return (
    <FormDialog title={t('facts.edit')} form={form} onClose={onClose}>
      <ChoiceField
        label={t('facts.injured')}
        name="injured"
        defaultValue={injured ?? ''}
        options={[unknown, ...injuries.map((each) => ({ value: each, label: t(`facts.injuries.${each}`) }))]}
      />
      {flags.map((name) => (
        <ChoiceField
          key={name}
          label={t(`facts.${name}`)}
          name={name}
          defaultValue={work[name] === null ? '' : work[name] ? 'yes' : 'no'}
          options={[unknown, { value: 'yes', label: t('facts.yes') }, { value: 'no', label: t('facts.no') }]}
        />
      ))}
      <LookUpField
        {...incidentLookUp}
        label={t('facts.secondaryOf')}
        name="secondaryOf"
        defaultValue={work.secondaryOf?.id ?? null}
        error={form.errorOf('secondaryOf')}
      />
    </FormDialog>
  );
}
