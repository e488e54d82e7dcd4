import type { Severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useKept } from '../../../shared/form/use-kept.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
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
  const [title, setTitle] = useState(`${what}${where === null ? '' : ` – ${where}`}`.slice(0, 200));
  const [type, setType] = useState<IncidentType>(typeOf(event));
  const [severity, setSeverity] = useState<Severity>(event.severity ?? 'MEDIUM');
  const kept = useKept(`new incident of ${event.id}`);
  const create = useMutation({
    mutationFn: async () => {
      // The coordinates are part of the full event but not of its row; the location is that of the sensor.
      const [{ location: position }, location] = await Promise.all([
        api.events.getById.query({ id: event.id }),
        readLocationOf(client, event.sensorId),
      ]);
      return api.incidents.create.mutate({
        title,
        type,
        severity,
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
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    create.mutate();
  };
  return (
    <Dialog title={t('incident.title')} open onClose={onClose}>
      <form ref={kept.ref} onSubmit={submit} className="flex flex-col gap-3">
        <Field
          label={t('incident.name')}
          name="title"
          value={title}
          onChange={(changed) => setTitle(changed.target.value)}
          maxLength={200}
          autoFocus
          required
        />
        <div className="grid grid-cols-2 gap-3">
          <Select
            label={t('incident.type')}
            name="type"
            value={type}
            onChange={setType}
            options={incidentTypes.map((value) => ({ value, label: common(`incidentTypes.${value}`) }))}
          />
          <Select
            label={t('fields.severity')}
            name="severity"
            value={severity}
            onChange={setSeverity}
            options={severities.map((value) => ({ value, label: common(`severity.${value}`) }))}
          />
        </div>
        <p className="text-sm text-muted">
          {t('incident.evidence')} {where !== null && <bdi>{where}</bdi>}
        </p>
        {create.error && <Failure error={create.error} />}
        <Button kind="primary" type="submit" disabled={create.isPending}>
          {t('incident.create')}
        </Button>
      </form>
    </Dialog>
  );
}

/** Guesses the type of the incident from the violation code and the description of the event. */
function typeOf({ violationType, description }: ReviewedEvent): IncidentType {
  const said = `${violationType ?? ''} ${description ?? ''}`.toUpperCase().replace(/[\s-]+/g, '_');
  if (said.includes('WRONG_WAY')) return 'WRONG_WAY_DRIVER';
  return incidentTypes.find((type) => said.includes(type)) ?? 'OTHER';
}
