import { GantryError } from '@gantry/client';
import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile } from './seen.ts';
import { useKept } from './use-kept.tsx';

/** The values entered into a form, by field name. Leading and trailing white space is removed, except by `exact`. */
export interface Entered {
  /** `''` if nothing was entered. */
  text(name: string): string;
  /** Not trimmed, because white space is part of a password. */
  exact(name: string): string;
  /** null if nothing was entered, which clears the value in an update. */
  textOrNull(name: string): string | null;
  /** null if nothing was entered. Non-numeric text becomes NaN, which the service refuses, naming the field. */
  numberOrNull(name: string): number | null;
  checked(name: string): boolean;
}

interface FormOptions<Input, Result> extends Pick<UseMutationOptions<Result, Error, Input>, 'onSuccess'> {
  /**
   * The form and its object, such as `location <id>`: what is entered survives a reload under this name. null for a
   * form that has only secrets.
   */
  readonly keep: string | null;
  /** Builds the input of the request. */
  readonly read: (entered: Entered) => Input;
  readonly save: (input: Input) => Promise<Result>;
}

/**
 * A plain `<form>` that calls the service. Each field is named by the path that it sets in the input, and is
 * uncontrolled (`defaultValue`), so that a failed request loses nothing that was entered. The issues that the service
 * reports are shown next to the field of their path, as are values that another user has changed meanwhile
 * (`ChangedMeanwhile`); the first of these fields gets the focus. Any other failure is returned as `failure`.
 *
 *     const form = useForm({
 *       keep: 'new location',
 *       read: (entered) => ({ name: entered.text('name'), speedLimit: entered.numberOrNull('speedLimit') }),
 *       save: (input) => api.locations.create.mutate(input),
 *       onSuccess: close,
 *     });
 *     <form ref={form.ref} onSubmit={form.submit} className="flex flex-col gap-3">
 *       <Field label={t('name')} name="name" error={form.errorOf('name')} required />
 *       {form.failure && <Failure error={form.failure} />}
 *       <Button kind="primary" type="submit" disabled={form.isSaving}>{t('save')}</Button>
 *     </form>
 */
export function useForm<Input, Result>({ keep, read, save, onSuccess }: FormOptions<Input, Result>) {
  const element = useRef<HTMLFormElement | null>(null);
  const { ref, forget } = useKept(keep);
  const call = useMutation<Result, Error, Input>({
    mutationFn: save,
    onSuccess: (...result) => {
      forget();
      return onSuccess?.(...result);
    },
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
    // An issue of the whole input has an empty path. It is not one of a field without a name.
    const wrong = new Set(issues.map(({ path }) => path).filter((path) => path !== ''));
    const first = [...(form?.elements ?? [])].find((field) => wrong.has(field.getAttribute('name') ?? ''));
    if (!(first instanceof HTMLElement)) return;
    // Screen readers announce the error of a field when it receives the focus, not if it has the focus already.
    first.blur();
    first.focus();
  };
  // After the messages have been rendered.
  useEffect(() => {
    if (call.error) focusWrong.current();
  }, [call.error]);
  // If the form has no field for one of the issues, the failure is shown as a whole.
  const isShown = issues.length > 0 && form !== null && issues.every(({ path }) => fieldOf(form, path));
  return {
    ref,
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

/** A value as the field would show it; null if the field shows no text. */
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

/** The values that are entered into a form at present. */
export function enteredInto(form: HTMLFormElement): Entered {
  const data = new FormData(form);
  const exact = (name: string) => String(data.get(name) ?? '');
  const text = (name: string) => exact(name).trim();
  return {
    text,
    exact,
    textOrNull: (name) => text(name) || null,
    // Many users type a decimal comma.
    numberOrNull: (name) => (text(name) === '' ? null : Number(text(name).replace(',', '.'))),
    checked: (name) => data.get(name) !== null,
  };
}

/**
 * Submits a form on Ctrl+Enter or ⌘+Enter, because Enter alone inserts a new line in a text area. As with Enter,
 * nothing is submitted while the submit button is disabled, for example while a request is pending.
 */
export function sendWithKeys(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>('[type=submit]')?.click();
}
