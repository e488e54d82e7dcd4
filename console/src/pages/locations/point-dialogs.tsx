import type { Assignment, MeasuringPoint } from '@gantry/contract/points';
import { directions, eventTypes, legs, speedUnitNames, turns } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { sensorLookUp } from '../../shared/places/look-ups.ts';
import { api } from '../../shared/service/service.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { channelOf, channelText, movementOf } from './channel.ts';

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

type ErrorOf = (path: string) => string | undefined;

const facilities = ['MAINLINE', 'RAMP_ON', 'RAMP_OFF', 'HOV', 'BUS', 'CYCLE', 'CROSSWALK', 'LEG'] as const;
const roles = ['COUNT', 'SPEED', 'CLASS', 'PLATE', 'VERIFY'] as const;

/** What may stand for a vehicle. */
const passageTypes = eventTypes.filter((type) => type !== 'INCIDENT');

const readValidity = (entered: Entered) => ({
  validFrom: entered.textOrNull('validFrom'),
  validUntil: entered.textOrNull('validUntil'),
});

interface PointDialogProps extends DialogProps {
  readonly locationId: string;
  /** Absent for a new one. */
  readonly point?: MeasuringPoint;
}

/** A form that adds a measuring point, changes it, or ends it. */
export function PointDialog({ locationId, point, onClose, onDone }: PointDialogProps) {
  const { t } = useTranslation('studies');
  const form = useForm({
    keep: point ? `point ${point.id}` : `new point ${locationId}`,
    read: (entered) => ({
      name: entered.text('name'),
      direction: entered.text('direction') as MeasuringPoint['direction'],
      facility: entered.text('facility') as MeasuringPoint['facility'],
      bearing: entered.numberOrNull('bearing'),
      lanes: entered.numberOrNull('lanes'),
      roadClass: entered.textOrNull('roadClass'),
      setting: entered.textOrNull('setting') as MeasuringPoint['setting'],
      ...readValidity(entered),
    }),
    save: (input) =>
      point
        ? api.points.update.mutate({ id: point.id, ...input })
        : api.points.create.mutate({ locationId, ...input }),
    onSuccess: onDone,
  });
  const numbers = [
    ['bearing', point?.bearing],
    ['lanes', point?.lanes],
  ] as const;
  return (
    <FormDialog title={t(point ? 'points.edit' : 'points.add')} form={form} onClose={onClose}>
      <Field
        label={t('points.name')}
        name="name"
        defaultValue={point?.name}
        error={form.errorOf('name')}
        required
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <ChoiceField
          label={t('points.direction')}
          name="direction"
          defaultValue={point?.direction ?? 'BOTH'}
          options={['BOTH', ...directions].map((value) => ({
            value,
            label: value === 'BOTH' ? t('points.both') : value,
          }))}
        />
        <ChoiceField
          label={t('points.facility')}
          name="facility"
          defaultValue={point?.facility ?? 'MAINLINE'}
          options={facilities.map((value) => ({ value, label: t(`points.facilities.${value}`) }))}
        />
        {numbers.map(([name, value]) => (
          <Field
            key={name}
            label={t(`points.${name}`)}
            name={name}
            inputMode="numeric"
            defaultValue={value ?? ''}
            error={form.errorOf(name)}
          />
        ))}
        <Field
          label={t('points.roadClass')}
          name="roadClass"
          defaultValue={point?.roadClass ?? ''}
          error={form.errorOf('roadClass')}
        />
        <ChoiceField
          label={t('points.setting')}
          name="setting"
          defaultValue={point?.setting ?? ''}
          options={[
            { value: '', label: t('points.unknown') },
            { value: 'URBAN', label: t('points.urban') },
            { value: 'RURAL', label: t('points.rural') },
          ]}
        />
      </div>
      <ValidityFields of={point} errorOf={form.errorOf} />
    </FormDialog>
  );
}

interface AssignmentDialogProps extends DialogProps {
  readonly point: MeasuringPoint;
  /** Absent for a new one. */
  readonly assignment?: Assignment;
}

/** A form that assigns a sensor to a measuring point, changes the assignment, or ends it. */
export function AssignmentDialog({ point, assignment, onClose, onDone }: AssignmentDialogProps) {
  const { t } = useTranslation('studies');
  const form = useForm({
    keep: assignment ? `assignment ${assignment.id}` : `new assignment ${point.id}`,
    read: (entered) => ({
      sensorId: entered.text('sensorId'),
      channel: channelOf(entered.text('channel')),
      lane: entered.textOrNull('lane'),
      movement: entered.text('movement.from')
        ? movementOf(entered.text('movement.from'), entered.text('movement.turn'))
        : null,
      role: entered.text('role') as Assignment['role'],
      countedTypes: typesOf(entered),
      correctionAngle: entered.numberOrNull('correctionAngle') ?? 0,
      speedUnit: entered.textOrNull('speedUnit') as Assignment['speedUnit'],
      ...readValidity(entered),
    }),
    save: ({ sensorId, ...input }) =>
      assignment
        ? api.assignments.update.mutate({ id: assignment.id, ...input })
        : api.assignments.create.mutate({ sensorId, pointId: point.id, ...input }),
    onSuccess: onDone,
  });
  return (
    <FormDialog
      title={t(assignment ? 'points.editAssignment' : 'points.assign')}
      form={form}
      onClose={onClose}
    >
      <p>
        <bdi className="font-semibold">{point.name}</bdi>
      </p>
      {!assignment && (
        <LookUpField
          label={t('quality.sensor')}
          name="sensorId"
          defaultValue={null}
          error={form.errorOf('sensorId')}
          {...sensorLookUp}
        />
      )}
      <ChoiceField
        label={t('points.role')}
        name="role"
        defaultValue={assignment?.role ?? 'COUNT'}
        options={roles.map((value) => ({ value, label: t(`points.roles.${value}`) }))}
      />
      <Field
        label={t('points.channel')}
        hint={t('points.channelHint')}
        name="channel"
        defaultValue={channelText(assignment?.channel ?? '*')}
        error={form.errorOf('channel')}
        required
      />
      <PassageFields of={assignment} errorOf={form.errorOf} />
      <Field
        label={t('points.angle')}
        hint={t('points.angleHint')}
        name="correctionAngle"
        inputMode="decimal"
        defaultValue={assignment?.correctionAngle ?? 0}
        error={form.errorOf('correctionAngle')}
      />
      <ValidityFields of={assignment} errorOf={form.errorOf} />
    </FormDialog>
  );
}

/** The chosen types of events; null for none. */
function typesOf(entered: Entered): Assignment['countedTypes'] {
  const chosen = passageTypes.filter((type) => entered.checked(`type ${type}`));
  return chosen.length > 0 ? chosen : null;
}

interface PassageFieldsProps {
  readonly of: Assignment | undefined;
  readonly errorOf: ErrorOf;
}

/** As what the passages of a channel count, and which events stand for them. */
function PassageFields({ of, errorOf }: PassageFieldsProps) {
  const { t } = useTranslation(['studies', 'events']);
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('points.lane')}
          hint={t('points.laneHint')}
          name="lane"
          defaultValue={of?.lane ?? ''}
          error={errorOf('lane')}
        />
        <ChoiceField
          label={t('points.speedUnit')}
          name="speedUnit"
          defaultValue={of?.speedUnit ?? ''}
          options={[
            { value: '', label: t('points.found') },
            ...speedUnitNames.map((value) => ({ value, label: t(`units.${value}`) })),
          ]}
        />
        <ChoiceField
          label={t('points.fromLeg')}
          name="movement.from"
          defaultValue={of?.movement?.from ?? ''}
          options={[
            { value: '', label: t('points.asSent') },
            ...legs.map((value) => ({ value, label: t(`legs.${value}`) })),
          ]}
        />
        <ChoiceField
          label={t('points.turn')}
          name="movement.turn"
          defaultValue={of?.movement?.turn ?? ''}
          options={[
            { value: '', label: t('points.anyTurn') },
            ...turns.map((value) => ({ value, label: t(`turns.${value}`) })),
          ]}
        />
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm text-muted">{t('points.countedTypes')}</legend>
        {passageTypes.map((type) => (
          <label key={type} className="flex min-h-7 items-center gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              name={`type ${type}`}
              defaultChecked={of?.countedTypes?.includes(type) ?? false}
              className="size-4 accent-accent"
            />
            {t(`events:types.${type}`)}
          </label>
        ))}
      </fieldset>
    </>
  );
}

interface ValidityFieldsProps {
  readonly of: Pick<Assignment, 'validFrom' | 'validUntil'> | undefined;
  readonly errorOf: ErrorOf;
}

/** From when until when something holds. An end keeps what was counted before it; deleting does not. */
function ValidityFields({ of, errorOf }: ValidityFieldsProps) {
  const { t } = useTranslation('studies');
  const { timezone } = useTimeSettings();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <FormDateField
        label={t('points.validFrom')}
        hint={timezone}
        name="validFrom"
        withTime
        defaultValue={of?.validFrom?.toISOString() ?? ''}
        error={errorOf('validFrom')}
      />
      <FormDateField
        label={t('points.validUntil')}
        hint={t('points.validHint')}
        name="validUntil"
        withTime
        defaultValue={of?.validUntil?.toISOString() ?? ''}
        error={errorOf('validUntil')}
      />
    </div>
  );
}
