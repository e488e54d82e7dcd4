import type { StudyKind } from '@gantry/contract/studies';
import { studyKinds } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../../shared/form/form.ts';
import { FormDialog } from '../../../../shared/form/form-dialog.tsx';
import { KeptState } from '../../../../shared/form/use-kept.tsx';
import { type DayRange, moved, rangeOfPreset } from '../../../../shared/range/days.ts';
import { RangePicker, useToday } from '../../../../shared/range/range-picker.tsx';
import { api, service } from '../../../../shared/service/service.ts';
import { useMay } from '../../../../shared/session/session.ts';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Select } from '../../../../ui/select.tsx';
import type { Place } from '../../comparison.ts';
import { PlaceLookUp, usePlaceName } from '../../place.tsx';

/** What a study is to be about. What a page has chosen besides place and days is in `options`. */
export interface StudyAbout {
  readonly kind: StudyKind;
  readonly place: Place | null;
  readonly days: DayRange;
  /** Fields of `studies.create` for this kind, such as the interval and the windows. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The second place and days of a comparison; by default the same place. */
  readonly after?: { readonly place: Place; readonly days: DayRange };
}

interface StudyDialogProps {
  readonly today: string;
  /** By default, nothing is chosen. */
  readonly about?: StudyAbout;
  readonly onClose: () => void;
}

/** A form that creates a study as a draft, and shows it. */
export function StudyDialog({ today, about, onClose }: StudyDialogProps) {
  const { t } = useTranslation('studies');
  const client = useQueryClient();
  const navigate = useNavigate();
  const usual = rangeOfPreset('yesterday', today);
  const [subject, setSubject] = useState<StudyAbout>(about ?? { kind: 'VOLUME', place: null, days: usual });
  const set = (change: Partial<StudyAbout>) => setSubject((now) => ({ ...now, ...change }));
  const name = usePlaceName(subject.place);
  const form = useForm({
    keep: `new study ${JSON.stringify(about?.place ?? null)}`,
    read: (entered): CreateStudyInput =>
      studyInput(subject, { title: entered.text('title'), notes: entered.textOrNull('notes') }),
    save: (input) => api.studies.create.mutate(input),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: service.studies.list.pathKey() });
      void navigate({ to: '/traffic/studies/$studyId', params: { studyId: id }, search: {} });
    },
  });
  return (
    <FormDialog
      title={t('signing.new')}
      form={form}
      onClose={onClose}
      action={t('signing.create')}
      width="wide"
      failure={
        form.failure &&
        subject.place === null && (
          <p role="alert" className="text-critical">
            {t('choosePlace')}
          </p>
        )
      }
    >
      <KeptState name="subject" value={subject} onRestore={setSubject} />
      <Select
        label={t('signing.kind')}
        value={subject.kind}
        options={studyKinds.map((value) => ({ value, label: t(`signing.kinds.${value}`) }))}
        onChange={(kind) => setSubject(({ place, days }) => ({ kind, place, days }))}
      />
      <p className="text-sm text-muted">{t(`signing.kindMeans.${subject.kind}`)}</p>
      <Field
        // The name of the place may be loaded later than the form is opened.
        key={about && name}
        label={t('signing.fields.title')}
        name="title"
        defaultValue={about && name ? `${t(`signing.kinds.${about.kind}`)}, ${name}` : ''}
        error={form.errorOf('title')}
        maxLength={200}
        required
      />
      <SubjectFields {...{ subject, today, set }} />
      <Field
        label={t('signing.fields.notes')}
        name="notes"
        lines={3}
        hint={t('signing.notesHint')}
        error={form.errorOf('notes')}
        maxLength={2000}
      />
    </FormDialog>
  );
}

type PartProps = {
  readonly subject: StudyAbout;
  readonly set: (change: Partial<StudyAbout>) => void;
};

/** The place and the days, and what else a kind of study needs. */
function SubjectFields({ subject, today, set }: PartProps & { readonly today: string }) {
  const { t } = useTranslation('studies');
  const isComparison = subject.kind === 'COMPARISON';
  return (
    <>
      <PlaceLookUp
        label={t(isComparison ? 'signing.before' : 'place')}
        place={subject.place}
        onChoose={(place) => set({ place })}
      />
      <RangePicker
        range={subject.days}
        today={today}
        label={t('period')}
        onChange={(days) => set({ days })}
      />
      {isComparison && <AfterFields {...{ subject, today, set }} />}
      {subject.kind === 'VOLUME' && <IntervalField {...{ subject, set }} />}
    </>
  );
}

/** The place and the days with which a comparison compares. */
function AfterFields({ subject, today, set }: PartProps & { readonly today: string }) {
  const { t } = useTranslation('studies');
  const after = afterOf(subject);
  return (
    <>
      <PlaceLookUp
        label={t('signing.after')}
        place={after?.place ?? null}
        onChoose={(place) => set({ after: { place, days: after?.days ?? moved(subject.days, WEEK) } })}
      />
      {after && (
        <RangePicker
          range={after.days}
          today={today}
          label={t('signing.afterDays')}
          onChange={(days) => set({ after: { ...after, days } })}
        />
      )}
    </>
  );
}

const WEEK = 7;

function afterOf({ place, days, after }: StudyAbout) {
  return after ?? (place && { place, days: moved(days, WEEK) });
}

function IntervalField({ subject, set }: PartProps) {
  const { t } = useTranslation('traffic');
  return (
    <Select
      label={t('interval.label')}
      value={String(subject.options?.interval ?? '15min')}
      options={(['15min', '60min', 'day'] as const).map((value) => ({
        value: value as string,
        label: t(`interval.${value}`),
      }))}
      onChange={(interval) => set({ options: { ...subject.options, interval } })}
    />
  );
}

/** The input of `studies.create`, as it is sent. */
type CreateStudyInput = Parameters<typeof api.studies.create.mutate>[0];

interface Words {
  readonly title: string;
  readonly notes: string | null;
}

/** The input of `studies.create`. Without a place the service says which is missing. */
function studyInput(subject: StudyAbout, words: Words): CreateStudyInput {
  const { kind, place, days, options = {} } = subject;
  const side = { ...place, ...days };
  if (kind !== 'COMPARISON') return { kind, ...words, ...side, ...options } as CreateStudyInput;
  const after = afterOf(subject);
  return {
    kind,
    ...words,
    before: side,
    after: { ...after?.place, ...after?.days },
    ...options,
  } as CreateStudyInput;
}

/** A button on a page of figures that makes a study of what the page shows. */
export function MakeStudy({ about }: { readonly about: StudyAbout }) {
  const { t } = useTranslation('studies');
  const today = useToday();
  const [isOpen, setIsOpen] = useState(false);
  if (!useMay('generateReports') || today === null) return null;
  return (
    <>
      <Button icon="file" onClick={() => setIsOpen(true)}>
        {t('signing.make')}
      </Button>
      {isOpen && <StudyDialog {...{ today, about }} onClose={() => setIsOpen(false)} />}
    </>
  );
}
