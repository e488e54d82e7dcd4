import type { Severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField } from '../../../ui/select.tsx';
import { readLocationOf } from '../detail/place.tsx';
import type { ReviewedEvent } from './row-states.ts';

interface IncidentDialogProps {
  readonly event: ReviewedEvent;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** Creates an incident from an event, which is attached as evidence. The fields are prefilled, and Enter submits. */
export function IncidentDialog({ event, onClose, onCreated }: IncidentDialogProps) {
  const { t } = useTranslation('events');
  const { t: common } = useTranslation('common');
  const router = useRouter();
  const client = useQueryClient();
  const where = event.locationName ?? event.sensorName;
  const what = event.description ?? t(`types.${event.eventType}`);
  const form = useForm({
    keep: `new incident of ${event.id}`,
    read: (entered) => ({
      title: entered.text('title'),
      type: entered.text('type') as IncidentType,
      severity: entered.text('severity') as Severity,
    }),
    save: async (input) => {
      // The coordinates are part of the full event but not of its row; the location is that of the sensor.
      const [{ location: position }, location] = await Promise.all([
        api.events.getById.query({ id: event.id }),
        readLocationOf(client, event.sensorId),
      ]);
      return api.incidents.create.mutate({
        ...input,
        description: event.description,
        sensorId: event.sensorId,
        locationId: location?.id ?? null,
        location: position ?? location?.coordinates ?? null,
        eventIds: [event.id],
      });
    },
    onSuccess: ({ id }) => {
      onCreated();
      onClose();
      router.history.push(`/incidents/${id}`);
    },
  });
  return (
    <FormDialog title={t('incident.title')} form={form} onClose={onClose} action={t('incident.create')}>
      <Field
        label={t('incident.name')}
        name="title"
        defaultValue={`${what}${where === null ? '' : ` – ${where}`}`.slice(0, 200)}
        error={form.errorOf('title')}
        maxLength={200}
        autoFocus
        required
      />
      <div className="grid grid-cols-2 gap-3">
        <ChoiceField
          label={t('incident.type')}
          name="type"
          defaultValue={typeOf(event)}
          options={incidentTypes.map((value) => ({ value, label: common(`incidentTypes.${value}`) }))}
        />
        <ChoiceField
          label={t('fields.severity')}
          name="severity"
          defaultValue={event.severity ?? 'MEDIUM'}
          options={severities.map((value) => ({ value, label: common(`severity.${value}`) }))}
        />
      </div>
      <p className="text-sm text-muted">
        {t('incident.evidence')} {where !== null && <bdi>{where}</bdi>}
      </p>
    </FormDialog>
  );
}

/** Guesses the type of the incident from the violation code and the description of the event. */
function typeOf({ violationType, description }: ReviewedEvent): IncidentType {
  const said = `${violationType ?? ''} ${description ?? ''}`.toUpperCase().replace(/[\s-]+/g, '_');
  if (said.includes('WRONG_WAY')) return 'WRONG_WAY_DRIVER';
  return incidentTypes.find((type) => said.includes(type)) ?? 'OTHER';
}
