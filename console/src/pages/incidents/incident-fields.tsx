import type { Incident } from '@gantry/contract/incidents';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../shared/form/form.ts';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { CoordinateFields, readCoordinates } from '../../shared/places/coordinate-fields.tsx';
import { locationLookUp, sensorLookUp } from '../../shared/places/look-ups.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

/** The fields of an incident that a user can edit. */
export type IncidentFacts = Pick<
  Incident,
  'title' | 'description' | 'type' | 'severity' | 'lanesBlocked' | 'location' | 'locationId' | 'sensorId'
>;

/** Reads the fields from the form. */
export function readFacts(entered: Entered): IncidentFacts {
  return {
    title: entered.text('title'),
    description: entered.textOrNull('description'),
    type: entered.text('type') as Incident['type'],
    severity: entered.text('severity') as Incident['severity'],
    lanesBlocked: entered.numberOrNull('lanesBlocked'),
    location: readCoordinates(entered, 'location'),
    locationId: entered.textOrNull('locationId'),
    sensorId: entered.textOrNull('sensorId'),
  };
}

interface IncidentFieldsProps {
  readonly facts: IncidentFacts;
  readonly errorOf: (path: string) => string | undefined;
}

/** The form fields of an incident, used to create one and to edit one. */
export function IncidentFields({ facts, errorOf }: IncidentFieldsProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const text = (name: string) => ({ name, error: errorOf(name) });
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field
        className="sm:col-span-2"
        label={t('fields.title')}
        {...text('title')}
        defaultValue={facts.title}
        maxLength={200}
        required
        autoFocus
      />
      <ChoiceField
        label={t('fields.type')}
        name="type"
        defaultValue={facts.type}
        options={incidentTypes.map((value) => ({ value, label: t(`common:incidentTypes.${value}`) }))}
      />
      <ChoiceField
        label={t('fields.severity')}
        name="severity"
        defaultValue={facts.severity}
        options={severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))}
      />
      <Field
        className="sm:col-span-2"
        label={t('fields.description')}
        {...text('description')}
        defaultValue={facts.description ?? ''}
        maxLength={10_000}
        lines={3}
      />
      <LookUpField
        label={t('fields.location')}
        {...text('locationId')}
        defaultValue={facts.locationId}
        {...locationLookUp}
      />
      <LookUpField
        label={t('fields.sensor')}
        {...text('sensorId')}
        defaultValue={facts.sensorId}
        {...sensorLookUp}
      />
      <div className="sm:col-span-2">
        <CoordinateFields name="location" coordinates={facts.location} errorOf={errorOf} />
      </div>
      <Field
        label={t('fields.lanesBlocked')}
        {...text('lanesBlocked')}
        defaultValue={facts.lanesBlocked ?? ''}
        type="number"
        min={0}
        max={20}
        dir="ltr"
      />
    </div>
  );
}
