import { GantryError } from '@gantry/client';
import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile } from './seen.ts';

/** What was entered into a form, by the names of its fields. Blanks around a text do not count. */
export interface Entered {
  /** `''` when nothing was entered. */
  text(name: string): string;
  /** With the blanks around it, which are part of a password. */
  exact(name: string): string;
  /** null when nothing was entered: how an update clears a value. */
  textOrNull(name: string): string | null;
  /** null when nothing was entered. A text that is no number is sent as NaN, which the service refuses by name. */
  numberOrNull(name: string): number | null;
  checked(name: string): boolean;
}

interface FormOptions<Input, Result> extends Pick<UseMutationOptions<Result, Error, Input>, 'onSuccess'> {
  /** Makes the input of the call. */
  readonly read: (entered: Entered) => Input;
  readonly save: (input: Input) => Promise<Result>;
}

/**
 * A plain `<form>` that calls the service. Its fields are named by the path of what they set in the input, and keep what was
 * entered (`defaultValue`), so a failed call loses nothing. What the service finds wrong stands beside the field of that
 * path, and so does what somebody else has changed in it meanwhile; the first of them gets the focus. Every other failure is
 * `failure`.
 *
 *     const form = useForm({
 *       read: (entered) => ({ name: entered.text('name'), speedLimit: entered.numberOrNull('speedLimit') }),
 *       save: (input) => api.locations.create.mutate(input),
 *       onSuccess: close,
 *     });
 *     <form onSubmit={form.submit} className="flex flex-col gap-3">
 *       <Field label={t('name')} name="name" error={form.errorOf('name')} required />
 *       {form.failure && <Failure error={form.failure} />}
 *       <Button kind="primary" type="submit" disabled={form.isSaving}>{t('save')}</Button>
 *     </form>
 */
export function useForm<Input, Result>({ read, save, onSuccess }: FormOptions<Input, Result>) {
  const element = useRef<HTMLFormElement | null>(null);
  const call = useMutation<Result, Error, Input>({
    mutationFn: save,
    ...(onSuccess && { onSuccess }),
  });
  const { t } = useTranslation('common');
  const form = element.current;
  const issues = issuesOf(call.error);
  if (call.error instanceof ChangedMeanwhile && form) {
    for (const [path, value] of call.error.values) {
      const text = textIn(fieldOf(form, path), value);
      if (text === null) continue;
      const message = text === '' ? t('faster.emptied') : t('faster.now', { value: `\u2068${text}\u2069` });
      issues.push({ path, message });
    }
  }
  const focusWrong = useRef(() => {});
  focusWrong.current = () => {
    const wrong = new Set(issues.map(({ path }) => path));
    const first = [...(form?.elements ?? [])].find((field) => wrong.has(field.getAttribute('name') ?? ''));
    if (!(first instanceof HTMLElement)) return;
    // Screen readers say what is wrong with the field that gets the focus, not with one that has it already.
    first.blur();
    first.focus();
  };
  // Once the messages stand in the page.
  useEffect(() => {
    if (call.error) focusWrong.current();
  }, [call.error]);
  // An issue of a field that the form does not show is said with the failure as a whole.
  const isShown = issues.length > 0 && form !== null && issues.every(({ path }) => fieldOf(form, path));
  return {
    submit(event: FormEvent<HTMLFormElement>) {
      event.preventDefault();
      element.current = event.currentTarget;
      call.mutate(read(enteredInto(event.currentTarget)));
    },
    errorOf: (path: string): string | undefined => issues.find((issue) => issue.path === path)?.message,
    failure: isShown && !(call.error instanceof ChangedMeanwhile) ? null : call.error,
    isSaving: call.isPending,
    result: call.data,
    reset: call.reset,
  };
}

function issuesOf(error: unknown): { path: string; message: string }[] {
  return error instanceof GantryError ? [...error.issues] : [];
}

/** A value as the field would show it; null where the field shows no text. */
function textIn(field: HTMLElement | null, value: unknown): string | null {
  const text = String(value ?? '');
  if (field instanceof HTMLSelectElement)
    return [...field.options].find((option) => option.value === text)?.text ?? null;
  if (field instanceof HTMLInputElement && ['hidden', 'checkbox'].includes(field.type)) return null;
  return field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? text : null;
}

function fieldOf(form: HTMLFormElement, path: string): HTMLElement | null {
  const field = form.elements.namedItem(path);
  return field instanceof HTMLElement ? field : null;
}

function enteredInto(form: HTMLFormElement): Entered {
  const data = new FormData(form);
  const exact = (name: string) => String(data.get(name) ?? '');
  const text = (name: string) => exact(name).trim();
  return {
    text,
    exact,
    textOrNull: (name) => text(name) || null,
    // Decimal commas are what many people type.
    numberOrNull: (name) => (text(name) === '' ? null : Number(text(name).replace(',', '.'))),
    checked: (name) => data.get(name) !== null,
  };
}
