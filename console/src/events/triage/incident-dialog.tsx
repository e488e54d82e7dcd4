import type { Severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../service/failure.tsx';
import { api } from '../../service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { readLocationOf } from '../detail/place.tsx';
import type { ReviewedEvent } from './row-states.ts';

interface IncidentDialogProps {
  readonly event: ReviewedEvent;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** A new incident out of an event: place and evidence are filled in, and Enter creates it. */
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
  const create = useMutation({
    mutationFn: async () => {
      // Its coordinates are part of the event in full, not of its row, and the place is that of its sensor.
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
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field
          label={t('incident.name')}
          value={title}
          onChange={(changed) => setTitle(changed.target.value)}
          maxLength={200}
          autoFocus
          required
        />
        <div className="grid grid-cols-2 gap-3">
          <Select
            label={t('incident.type')}
            value={type}
            onChange={setType}
            options={incidentTypes.map((value) => ({ value, label: common(`incidentTypes.${value}`) }))}
          />
          <Select
            label={t('fields.severity')}
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

/** The type that an incident of such an event most likely has. */
function typeOf({ violationType, description }: ReviewedEvent): IncidentType {
  const said = `${violationType ?? ''} ${description ?? ''}`.toUpperCase().replace(/[\s-]+/g, '_');
  if (said.includes('WRONG_WAY')) return 'WRONG_WAY_DRIVER';
  return incidentTypes.find((type) => said.includes(type)) ?? 'OTHER';
}
