import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../ui/field.tsx';
import { later } from '../../ui/load-code.ts';
import type { LookUpProps } from './look-up-input.tsx';

const useLookUpInput = later(async () => (await import('./look-up-input.tsx')).LookUpInput);

/**
 * A field that finds one of many items by part of its name. It is a plain text field until the autocomplete is loaded,
 * which focus triggers.
 */
export function LookUp(props: LookUpProps) {
  const { t } = useTranslation('common');
  const { label, chosen = '' } = props;
  const [typed, setTyped] = useState<string | null>(null);
  // The user may be in another field by the time it is loaded.
  const [hasFocus, setHasFocus] = useState(false);
  const LookUpInput = useLookUpInput(typed !== null);
  if (LookUpInput) return <LookUpInput {...props} typed={typed} hasFocus={hasFocus} />;
  return (
    <Field
      label={label}
      placeholder={t('filters.lookUp')}
      value={typed ?? chosen}
      onFocus={() => {
        setTyped(typed ?? chosen);
        setHasFocus(true);
      }}
      onBlur={() => setHasFocus(false)}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
