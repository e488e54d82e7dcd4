import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../ui/button.tsx';

interface ChosenProps {
  readonly label: string;
  readonly items: readonly { readonly id: string; readonly name: string }[];
  readonly onRemove: (id: string) => void;
  /** The field that adds one. */
  readonly children: ReactNode;
  readonly error?: string | undefined;
}

/** What was chosen for a field, each with a button that removes it, and the field that adds one. */
export function Chosen({ label, items, onRemove, children, error }: ChosenProps) {
  const { t } = useTranslation('administration');
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted">{label}</span>
      {items.length > 0 && (
        <ul aria-label={label} className="flex flex-wrap gap-2">
          {items.map(({ id, name }) => (
            <li key={id} className="flex items-center rounded-md border ps-2">
              <bdi>{name}</bdi>
              <Button
                kind="quiet"
                icon="close"
                iconOnly
                aria-label={t('rotas.removeMember', { name })}
                onClick={() => onRemove(id)}
              />
            </li>
          ))}
        </ul>
      )}
      {children}
      {error !== undefined && <p className="text-sm text-critical">{error}</p>}
    </div>
  );
}
