import type { LookUpReason } from '@gantry/contract/events';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ChoiceField } from '../../ui/select.tsx';
import { useUser } from '../session/session.ts';
import { service } from './service.ts';

/** How long the access to plates is considered fresh, in milliseconds. The settings change only on a restart. */
const STALE_MS = 300_000;

function useAccessQuery() {
  return useQuery({ ...service.auth.getPlateAccess.queryOptions(), staleTime: STALE_MS });
}

const useAccess = () => useAccessQuery().data;

/** Whether the user's role may see number plates and search for them; true until it is known. */
export function useSeesPlates(): boolean {
  return useAccess()?.seesPlates ?? true;
}

/** Whether a search for a plate requires a reason; false until it is known. */
export function useNeedsReason(): boolean {
  return useAccess()?.requiresReason ?? false;
}

const NO_PURPOSES: readonly { readonly code: string; readonly name: string }[] = [];

/** The purposes of searches for plates; none until they are known. */
export function usePurposes() {
  return useAccess()?.purposes ?? NO_PURPOSES;
}

/** Why a user looked a plate up, and when they said so, in milliseconds since 1970. */
interface Answer {
  readonly why: LookUpReason;
  readonly at: number;
}

/** The answers that were given in this tab, by user and plate. */
const ANSWERS = 'gantry.look-ups';
/** For how long an answer survives a reload, in milliseconds: as long as the service counts repeated searches in one entry. */
const ANSWER_MS = 600_000;
let answers = storedAnswers();

function storedAnswers(): ReadonlyMap<string, Answer> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(ANSWERS) ?? '[]');
    return new Map(Array.isArray(stored) ? stored.filter(isRecent) : []);
  } catch {
    return new Map();
  }
}

function isRecent([, { at }]: readonly [string, Answer]): boolean {
  return Date.now() - at < ANSWER_MS;
}

function keepAnswers(given: ReadonlyMap<string, Answer>): void {
  answers = given;
  try {
    sessionStorage.setItem(ANSWERS, JSON.stringify([...given].filter(isRecent)));
  } catch {
    // Without storage, a reload asks again.
  }
}

/** Forgets why plates were looked up in this tab, when a user signs out. */
export function forgetLookUps(): void {
  keepAnswers(new Map());
}

interface LookUp {
  /** What the user said; undefined as long as they have not, or something that the settings require is missing. */
  readonly why: LookUpReason | undefined;
  /** Whether a look-up without a reason or a purpose would be refused; null until it is known. */
  readonly isRequired: boolean | null;
  readonly give: (why: LookUpReason) => void;
}

/** Why the user looks a plate up, which is asked once for each plate. @param plate undefined: none is looked up */
export function useLookUp(plate: string | undefined): LookUp {
  const [, setGiven] = useState(0);
  const { data: access, isPending } = useAccessQuery();
  const needsReason = access?.requiresReason ?? false;
  const needsPurpose = (access?.purposes.length ?? 0) > 0;
  const key = `${useUser().id} ${plate}`;
  const why = plate === undefined ? undefined : answers.get(key)?.why;
  const isLacking = (needsReason && !why?.reason) || (needsPurpose && !why?.purpose);
  return {
    why: isLacking ? undefined : why,
    isRequired: isPending ? null : needsReason || needsPurpose,
    give: (said) => {
      keepAnswers(new Map([...answers, [key, { why: said, at: Date.now() }]]));
      setGiven((n) => n + 1);
    },
  };
}

/** Explains why plates are hidden; renders nothing for users who see them. */
export function PlatesHidden() {
  const { t } = useTranslation('session');
  if (useSeesPlates()) return null;
  return (
    <p className="flex items-center gap-2 border-b bg-surface px-4 py-1.5 text-sm text-muted">
      <Icon name="hold" className="shrink-0" />
      {t('platesHidden')}
    </p>
  );
}

interface PlateFieldsProps {
  /** The validation error of a field. */
  readonly errorOf: (name: string) => string | undefined;
}

/** The fields of a form that say why it looks up a plate, which is recorded. @param isChecked whether the browser asks for what is required */
export function PlateReasonFields({
  errorOf,
  isChecked = false,
}: PlateFieldsProps & { readonly isChecked?: boolean }) {
  const { t } = useTranslation('session');
  const needsReason = useNeedsReason();
  return (
    <>
      <Field
        label={t('plateReason')}
        name="reason"
        hint={t('plateReasonHint')}
        error={errorOf('reason')}
        maxLength={500}
        required={isChecked && needsReason}
      />
      <PlatePurposeFields errorOf={errorOf} />
    </>
  );
}

/** The fields for the purpose of looking up a plate, if the service has purposes, and for the number of the case. */
export function PlatePurposeFields({
  errorOf,
  value = {},
}: PlateFieldsProps & { readonly value?: LookUpReason }) {
  const { t } = useTranslation('session');
  const purposes = usePurposes();
  return (
    <>
      {purposes.length > 0 && (
        <ChoiceField
          label={t('platePurpose')}
          name="purpose"
          defaultValue={value.purpose ?? ''}
          options={[
            { value: '', label: t('choosePurpose') },
            ...purposes.map(({ code, name }) => ({ value: code, label: name })),
          ]}
          error={errorOf('purpose')}
          required
        />
      )}
      <Field
        label={t('plateCase')}
        name="caseNumber"
        defaultValue={value.caseNumber}
        error={errorOf('caseNumber')}
        maxLength={100}
      />
    </>
  );
}

/** Why a form looks up a plate, as it was entered. */
export function readPlateReason(entered: { text(name: string): string }): LookUpReason {
  const [reason, purpose, caseNumber] = ['reason', 'purpose', 'caseNumber'].map(entered.text);
  return { ...(reason && { reason }), ...(purpose && { purpose }), ...(caseNumber && { caseNumber }) };
}
