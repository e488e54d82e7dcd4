import { useKeptField } from './use-kept.ts';

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
