import type { Severity } from '@gantry/contract/events';
import type { IncidentType } from '@gantry/contract/incidents';
import type { ReviewDecision } from '@gantry/contract/reviews';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { OpenCase } from '../../../shared/cases/open-case.tsx';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { useHasFeature } from '../../../shared/service/features.ts';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { later } from '../../../ui/load-code.ts';
import { ChoiceField } from '../../../ui/select.tsx';
import { Key } from '../../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { readLocationOf } from '../detail/place.tsx';
import { ReviewMark } from './review-mark.tsx';
import type { ReviewedEvent } from './row-states.ts';

const useRejectDialog = later(async () => (await import('./reject-dialog.tsx')).RejectDialog);

interface TriageBarProps {
  readonly event: ReviewedEvent;
  readonly onDecide: (decision: ReviewDecision, reason?: string) => void;
  readonly onArchive: () => void;
  /** Called when an incident was created from the event. */
  readonly onIncident: () => void;
}

/** The latest review of the open event, and the review commands, each with its keyboard shortcut. */
export function TriageBar({ event, onDecide, onArchive, onIncident }: TriageBarProps) {
  const { t } = useTranslation('events');
  const [asks, setAsks] = useState<'reason' | 'incident' | null>(null);
  // It is loaded once a bar is shown, and not with the page.
  const RejectDialog = useRejectDialog(true);
  const hasIncidents = useHasFeature('incidents');
  const close = () => setAsks(null);
  const confirm = () => onDecide('CONFIRMED');
  const reject = () => setAsks('reason');
  const secondLook = () => onDecide('SECOND_LOOK');
  const incident = () => setAsks('incident');
  useShortcuts([
    { keys: '1', label: t('commands.CONFIRMED'), scope: 'page', run: confirm },
    { keys: '2', label: t('commands.REJECTED'), scope: 'page', run: reject },
    { keys: '3', label: t('commands.SECOND_LOOK'), scope: 'page', run: secondLook },
    { keys: 'a', label: t('commands.archive'), scope: 'page', run: onArchive },
    { keys: 'i', label: t('commands.incident'), scope: 'page', run: () => hasIncidents && incident() },
  ]);
  return (
    <div className="flex flex-col gap-2 border-b bg-surface p-2">
      <div className="flex flex-wrap gap-1.5">
        <Command icon="acknowledge" keyName="1" onClick={confirm} label={t('commands.CONFIRMED')} />
        <Command icon="close" keyName="2" onClick={reject} label={t('commands.REJECTED')} />
        <Command icon="reveal" keyName="3" onClick={secondLook} label={t('commands.SECOND_LOOK')} />
        <Command
          icon="save"
          keyName="a"
          onClick={onArchive}
          label={t('commands.archive')}
          disabled={event.archived}
        />
        {hasIncidents && (
          <Command icon="incident" keyName="i" onClick={incident} label={t('commands.incident')} />
        )}
        <OpenCase about={{ eventId: event.id }} />
      </div>
      <ReviewMark event={event} />
      {asks === 'reason' && RejectDialog && (
        <RejectDialog
          what={event.licensePlateNumber ?? t(`types.${event.eventType}`)}
          onClose={close}
          onReject={(reason) => {
            close();
            onDecide('REJECTED', reason);
          }}
        />
      )}
      {asks === 'incident' && <IncidentDialog event={event} onClose={close} onCreated={onIncident} />}
    </div>
  );
}

interface CommandProps {
  readonly label: string;
  readonly keyName: string;
  readonly icon: 'acknowledge' | 'close' | 'reveal' | 'save' | 'incident';
  readonly onClick: () => void;
  readonly disabled?: boolean;
}

function Command({ label, keyName, icon, onClick, disabled }: CommandProps) {
  return (
    <Button icon={icon} onClick={onClick} disabled={disabled} className="px-2!">
      {label}
      <span className="pointer-coarse:hidden" aria-hidden="true">
        <Key name={keyName} />
      </span>
    </Button>
  );
}

interface IncidentDialogProps {
  readonly event: ReviewedEvent;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** Creates an incident from an event, which is attached as evidence. The fields are prefilled, and Enter submits. */
function IncidentDialog({ event, onClose, onCreated }: IncidentDialogProps) {
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
