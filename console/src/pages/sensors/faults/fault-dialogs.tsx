import { type FaultState, needsReason, nextFaultStates } from '@gantry/contract/fault-states';
import type { FaultDetail } from '@gantry/contract/faults';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { changesOf } from '../../../shared/form/seen.ts';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { outbox } from '../../../shared/offline/outbox.ts';
import { Sending } from '../../../shared/offline/outbox-list.tsx';
import { dataUrlsOf } from '../../../shared/offline/send.ts';
import { NoteImages } from '../../../shared/photos/note-images.tsx';
import { PhotoPicker } from '../../../shared/photos/photo-picker.tsx';
import { useKeptPhotos, usePhotos } from '../../../shared/photos/use-photos.ts';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { useMay } from '../../../shared/session/session.ts';
import { FaultBadge } from '../../../shared/status/fault-badge.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Facts } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

/** What to do after a fault was reported or changed: the lists that show it are read again. */
function useDone(onClose: () => void): (text: string) => void {
  const client = useQueryClient();
  const { say } = useNotices();
  return (text) => {
    void client.invalidateQueries({ queryKey: service.faults.pathKey() });
    void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
    say(text);
    onClose();
  };
}

interface ReportFaultProps {
  /** The sensor with the fault; undefined: the user chooses it. */
  readonly sensorId?: string;
  readonly onClose: () => void;
}

/** The form that reports a fault. */
export function ReportFaultDialog({ sensorId, onClose }: ReportFaultProps) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const { t: said } = useTranslation('mine', { keyPrefix: 'said' });
  const done = useDone(onClose);
  const client = useQueryClient();
  const keep = `new fault ${sensorId ?? ''}`;
  const photos = usePhotos();
  useKeptPhotos(keep, photos);
  const nameOf = (id: string) => client.getQueryData(service.sensors.getById.queryKey({ id }))?.name ?? '';
  const form = useForm({
    keep,
    read: (entered) => ({
      sensorId: sensorId ?? entered.text('sensorId'),
      text: entered.text('text'),
      code: entered.textOrNull('code'),
      ticket: entered.textOrNull('ticket'),
      foundAt: entered.text('foundAt') || undefined,
    }),
    save: (input) =>
      outbox.deliver({
        kind: 'fault',
        ...input,
        title: nameOf(input.sensorId),
        images: photos.list.map(({ file }) => file),
      }),
    onSuccess: (outcome) => done(outcome === 'sent' ? t('report.done') : said('waits')),
  });
  const { errorOf } = form;
  return (
    <FormDialog
      title={t('report.title')}
      form={form}
      onClose={onClose}
      action={t('report.action')}
      isBusy={photos.isPreparing}
    >
      {sensorId === undefined && (
        <LookUpField
          label={t('fields.sensor')}
          name="sensorId"
          defaultValue={null}
          {...sensorLookUp}
          error={errorOf('sensorId')}
        />
      )}
      <FaultTexts errorOf={errorOf} />
      <FormDateField
        label={t('fields.foundAt')}
        name="foundAt"
        withTime
        hint={t('fields.foundAtHint')}
        error={errorOf('foundAt')}
      />
      <PhotoPicker photos={photos} isDisabled={form.isSaving} />
      <Sending isSaving={form.isSaving} images={photos.list.length} />
    </FormDialog>
  );
}

interface FaultTextsProps {
  /** The fault that is changed; none if one is reported. */
  readonly fault?: FaultDetail;
  readonly errorOf: (field: string) => string | undefined;
}

/** The fields of what is said about a fault. */
function FaultTexts({ fault, errorOf }: FaultTextsProps) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  return (
    <>
      <Field
        label={t('fields.text')}
        name="text"
        lines={3}
        maxLength={1_000}
        required
        defaultValue={fault?.text}
        error={errorOf('text')}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t('fields.code')}
          name="code"
          maxLength={50}
          hint={fault ? undefined : t('fields.codeHint')}
          defaultValue={fault?.code ?? ''}
          error={errorOf('code')}
        />
        <Field
          label={t('fields.ticket')}
          name="ticket"
          maxLength={100}
          defaultValue={fault?.ticket ?? ''}
          error={errorOf('ticket')}
        />
      </div>
    </>
  );
}

interface FaultDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** A fault with the states that it went through, and the form that changes it for those who may. */
export function FaultDialog({ id, onClose }: FaultDialogProps) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const mayChange = useMay('manageIncidents');
  const { data, error, refetch, isFetchedAfterMount } = useQuery({
    ...service.faults.getById.queryOptions({ id }),
    refetchOnMount: 'always',
  });
  // What the user saw when the form was opened stays, also if somebody else changes it. What was read for another opening
  // is no longer true.
  const [opened, setOpened] = useState<FaultDetail | null>(null);
  if (data && !opened && isFetchedAfterMount) setOpened(data);
  if (opened && mayChange) return <ChangeFault fault={opened} now={data ?? opened} onClose={onClose} />;
  return (
    <Dialog title={t('one')} open onClose={onClose}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!opened && !error && <Skeleton rows={4} />}
      {data && opened && (
        <>
          <FaultFacts fault={data} />
          <p className="whitespace-pre-wrap wrap-anywhere">
            <bdi>{data.text}</bdi>
          </p>
          <FaultImages fault={data} />
          <Facts
            facts={[
              [t('fields.code'), data.code && <bdi>{data.code}</bdi>],
              [t('fields.ticket'), data.ticket && <bdi>{data.ticket}</bdi>],
            ]}
          />
          <FaultHistory fault={data} />
        </>
      )}
    </Dialog>
  );
}

interface ChangeFaultProps {
  readonly fault: FaultDetail;
  /** As it is now. */
  readonly now: FaultDetail;
  readonly onClose: () => void;
}

function ChangeFault({ fault, now, onClose }: ChangeFaultProps) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const done = useDone(onClose);
  const photos = usePhotos();
  useKeptPhotos(`fault ${fault.id}`, photos);
  const [state, setState] = useState<FaultState>(fault.state);
  const isTurn = state !== fault.state;
  const form = useForm({
    keep: `fault ${fault.id}`,
    read: (entered) => ({
      ...changesOf(fault, {
        text: entered.text('text'),
        code: entered.textOrNull('code'),
        ticket: entered.textOrNull('ticket'),
      }),
      ...(isTurn && { state, reason: entered.textOrNull('reason') }),
    }),
    save: async (changes) => {
      if (Object.keys(changes).length === 0 && photos.list.length === 0) return fault;
      const images = await dataUrlsOf(photos.list.map(({ file }) => file));
      return api.faults.update.mutate({ id: fault.id, version: fault.version, ...changes, images });
    },
    onSuccess: () => done(t('change.done')),
  });
  const { errorOf } = form;
  return (
    <FormDialog title={t('one')} form={form} onClose={onClose} width="wide" isBusy={photos.isPreparing}>
      <FaultFacts fault={fault} />
      <FaultImages fault={now} />
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label={t('fields.state')}
          name="state"
          value={state}
          error={errorOf('state')}
          options={[fault.state, ...nextFaultStates[fault.state]].map((value) => ({
            value,
            label: t(value === 'FOUND' && fault.state === 'REPAIRED' ? 'reopen' : `states.${value}`),
          }))}
          onChange={setState}
        />
        {isTurn && (
          <Field
            label={t('fields.reason')}
            name="reason"
            maxLength={500}
            required={needsReason(fault.state, state)}
            hint={state === 'WAITING' ? t('fields.waitingHint') : undefined}
            error={errorOf('reason')}
          />
        )}
      </div>
      <FaultTexts fault={fault} errorOf={errorOf} />
      <PhotoPicker photos={photos} isDisabled={form.isSaving} />
      <FaultHistory fault={now} />
    </FormDialog>
  );
}

function FaultFacts({ fault }: { readonly fault: FaultDetail }) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  const { sensor, place, foundAt, reportedBy } = fault;
  return (
    <Facts
      facts={[
        [
          t('fields.sensor'),
          <Link
            key="sensor"
            to="/sensors/$sensorId"
            params={{ sensorId: sensor.id }}
            className="text-accent underline"
          >
            <bdi>{sensor.name}</bdi>
          </Link>,
        ],
        [t('fields.place'), place && <bdi>{place}</bdi>],
        [t('fields.foundAt'), <Moment key="found" at={foundAt} />],
        [t('fields.reportedBy'), <bdi key="by">{reportedBy.name}</bdi>],
      ]}
    />
  );
}

/** The images of a fault, by who attached them. */
function FaultImages({ fault: { images } }: { readonly fault: FaultDetail }) {
  const byPerson = Map.groupBy(images, ({ by }) => by.id);
  return [...byPerson.values()].map((own) => (
    <NoteImages key={own[0]?.by.id} images={own.map(({ address }) => address)} by={own[0]?.by.name ?? ''} />
  ));
}

/** The states that a fault went through, the latest first. */
function FaultHistory({ fault }: { readonly fault: FaultDetail }) {
  const { t } = useTranslation('sensors', { keyPrefix: 'faults' });
  return (
    <section aria-label={t('history')} className="flex flex-col gap-1">
      <h3 className="text-sm font-medium text-muted">{t('history')}</h3>
      <ol className="flex flex-col">
        {fault.history.toReversed().map(({ state, at, by, reason }) => (
          <li
            key={at.getTime() + state}
            className="flex flex-wrap items-center gap-x-3 border-b py-1 last:border-b-0"
          >
            <FaultBadge state={state} />
            <Moment at={at} className="text-sm text-muted" />
            <bdi className="text-sm text-muted">{by.name}</bdi>
            {reason !== null && <bdi className="w-full text-sm wrap-anywhere">{reason}</bdi>}
          </li>
        ))}
      </ol>
    </section>
  );
}
