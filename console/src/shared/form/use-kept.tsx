import { useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../notices/notices.tsx';
import { useServiceTime } from '../time/use-time.ts';
import { keptInput } from './kept.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The event by which `KeptState` receives the kept value of something that is not a native control. */
export const RESTORE = 'gantry:restore';

/** How long fields that appear after others were restored are waited for, in milliseconds. */
const APPEAR_MS = 3_000;

/** Fields that are never kept: passwords, codes and other secrets. */
const SECRET = /password|one-time-code|cc-/;

function isKept(control: Element): control is Control {
  if (control instanceof HTMLInputElement) {
    if (['password', 'file', 'submit', 'button'].includes(control.type)) return false;
    if (control.type === 'hidden') return control.dataset.kept !== undefined;
    return control.name !== '' && !SECRET.test(control.autocomplete) && control.dataset.secret === undefined;
  }
  return (
    (control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement) && control.name !== ''
  );
}

/** A name and, because the boxes of a group have the same one, the value of a check box. */
const nameOf = (control: Control): string =>
  isBox(control) ? `${control.name} = ${control.value}` : control.name;

const isBox = (control: Control): control is HTMLInputElement =>
  control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio');

const enteredIn = (control: Control): string => (isBox(control) ? String(control.checked) : control.value);

/** Sets a value as if the user had entered it, so that controls whose value is a state of React follow. */
function enter(control: Control, value: string): void {
  if (enteredIn(control) === value) return;
  if (isBox(control)) {
    // A radio button is unchecked by another one.
    if (control.type === 'checkbox' || value === 'true') control.click();
  } else if (control instanceof HTMLInputElement && control.type === 'hidden') {
    control.dispatchEvent(new CustomEvent(RESTORE, { detail: value }));
  } else {
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(control), 'value') ?? {};
    set?.call(control, value);
    const type = control instanceof HTMLSelectElement ? 'change' : 'input';
    control.dispatchEvent(new Event(type, { bubbles: true }));
  }
}

/**
 * Keeps what is entered into a form until it is sent or cancelled, so that it survives a reload. Only fields that
 * differ from what the form was opened with are kept, and restored when the form is opened again. A form that leaves
 * the page while the page stays was cancelled; one that leaves with the page was not.
 * @param about the form and its object; null for a form with secrets or with nothing that is worth keeping
 * @returns the ref of the form, and a function that forgets its input
 */
export function useKept(about: string | null) {
  const { t } = useTranslation('common');
  const { say } = useNotices();
  const time = useServiceTime();
  const forget = useCallback(() => about !== null && keptInput.remove(about), [about]);
  const latest = useRef({ t, say, time });
  latest.current = { t, say, time };
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  const ref = useCallback(
    (form: HTMLFormElement | null) => {
      if (!form || about === null) return;
      clearTimeout(leaving.current);
      const page = location.pathname;
      const controls = () => [...form.elements].filter(isKept);
      const opened = new Map(controls().map((control) => [nameOf(control), enteredIn(control)]));
      const kept = keptInput.read(about);
      const missing = new Map(Object.entries(kept?.values ?? {}));
      const restore = () => {
        // Hidden fields hold states that changes of other fields may reset, so they are last.
        const isLast = (control: Control) => Number(control.type === 'hidden');
        for (const control of controls().sort((one, other) => isLast(one) - isLast(other))) {
          const name = nameOf(control);
          if (!opened.has(name)) opened.set(name, enteredIn(control));
          const value = missing.get(name);
          missing.delete(name);
          if (value !== undefined) enter(control, value);
        }
      };
      let isFull = false;
      const keep = () => {
        const values = Object.fromEntries([
          ...missing,
          ...controls()
            .filter((control) => enteredIn(control) !== (opened.get(nameOf(control)) ?? ''))
            .map((control) => [nameOf(control), enteredIn(control)]),
        ]);
        try {
          const isEmpty = Object.keys(values).length === 0 && !keptInput.read(about)?.files?.length;
          if (isEmpty) keptInput.remove(about);
          else keptInput.write(about, { values });
        } catch {
          if (!isFull) latest.current.say(latest.current.t('kept.full'));
          isFull = true;
        }
      };
      form.addEventListener('input', keep);
      form.addEventListener('change', keep);
      const appearing = new MutationObserver(() => {
        restore();
        if (missing.size === 0) appearing.disconnect();
      });
      // After the commit of React in which the form was attached.
      const start = setTimeout(() => missing.size > 0 && restore());
      if (kept && missing.size > 0) {
        const at = latest.current.time.minute(new Date(kept.at));
        latest.current.say(latest.current.t('kept.restored', { at }));
      }
      if (missing.size > 0) appearing.observe(form, { childList: true, subtree: true });
      const giveUp = setTimeout(() => {
        appearing.disconnect();
        missing.clear();
      }, APPEAR_MS);
      return () => {
        appearing.disconnect();
        clearTimeout(start);
        clearTimeout(giveUp);
        form.removeEventListener('input', keep);
        form.removeEventListener('change', keep);
        // Deferred, because React attaches a form again at once in its strict mode.
        leaving.current = setTimeout(() => location.pathname === page && keptInput.remove(about));
      };
    },
    [about],
  );
  return { ref, forget };
}

/** Calls `restore` with the kept value of a hidden field, and lets the form keep each new value. */
export function useKeptField(value: string, restore: (value: string) => void) {
  const field = useRef<HTMLInputElement>(null);
  const latest = useRef(restore);
  latest.current = restore;
  const isFirst = useRef(true);
  useEffect(() => {
    const element = field.current;
    const onRestore = (event: Event) => latest.current((event as CustomEvent<string>).detail);
    element?.addEventListener(RESTORE, onRestore);
    return () => element?.removeEventListener(RESTORE, onRestore);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: hidden fields have no events of their own
  useEffect(() => {
    if (!isFirst.current) field.current?.dispatchEvent(new Event('change', { bubbles: true }));
    isFirst.current = false;
  }, [value]);
  return field;
}

interface KeptStateProps<Value> {
  /** The name under which the form keeps the value; the form does not send it. */
  readonly name: string;
  readonly value: Value;
  readonly onRestore: (value: Value) => void;
}

/** Lets a form keep a value that none of its fields has, such as the filters of a report. The value must be JSON. */
export function KeptState<Value>({ name, value, onRestore }: KeptStateProps<Value>) {
  const text = JSON.stringify(value);
  const field = useKeptField(text, (kept) => onRestore(JSON.parse(kept) as Value));
  return <input ref={field} type="hidden" data-kept name={name} value={text} />;
}
