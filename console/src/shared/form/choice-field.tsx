import { useState } from 'react';
import { type Option, Select } from '../../ui/select.tsx';

interface ChoiceFieldProps {
  readonly label: string;
  readonly name: string;
  readonly defaultValue: string;
  readonly options: readonly Option[];
  readonly className?: string;
}

/** A select field that keeps its own value; the form reads it by `name`. */
export function ChoiceField({ defaultValue, ...rest }: ChoiceFieldProps) {
  const [value, setValue] = useState(defaultValue);
  return <Select {...rest} value={value} onChange={setValue} />;
}
