import { type ComponentProps, useState } from 'react';
import { DateField } from './date-field.tsx';

type FormDateFieldProps = Omit<ComponentProps<typeof DateField>, 'value' | 'onChange' | 'name'> & {
  readonly name: string;
  readonly defaultValue?: string;
};

/** A date field that keeps its own value; the form reads it by `name`. */
export function FormDateField({ defaultValue = '', ...rest }: FormDateFieldProps) {
  const [value, setValue] = useState(defaultValue);
  return <DateField {...rest} value={value} onChange={setValue} />;
}
