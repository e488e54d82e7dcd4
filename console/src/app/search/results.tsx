import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import type { Found, FoundGroup } from './use-results.ts';

interface ResultsProps {
  /** The prefix of the element ids of the list and its options. */
  readonly id: string;
  readonly groups: readonly FoundGroup[];
  readonly active: number;
  readonly onOpen: (item: Found) => void;
  readonly onPoint: (at: number) => void;
}

/** The results, grouped by kind. The focus stays in the field, which refers to the active option by its id. */
export function Results({ id, groups, active, onOpen, onPoint }: ResultsProps) {
  const { t } = useTranslation('search');
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  let next = 0;
  return (
    <div id={`${id}-list`} role="listbox" aria-label={t('results')} className="max-h-[60vh] overflow-y-auto">
      {groups.map(({ name, items }) => (
        // biome-ignore lint/a11y/useSemanticElements: HTML has no element for a group of options in a listbox
        <div key={name} role="group" aria-label={t(`groups.${name}`)} className="pb-2">
          <p aria-hidden="true" className="px-2 py-1 text-sm text-muted">
            {t(`groups.${name}`)}
          </p>
          {items.map((item) => {
            const at = next++;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
              <div
                key={`${item.to} ${item.label}`}
                id={`${id}-${at}`}
                role="option"
                tabIndex={-1}
                aria-selected={at === active}
                onClick={() => onOpen(item)}
                onPointerMove={() => onPoint(at)}
                className={classes(
                  'flex min-h-9 items-center gap-3 rounded-md px-2 pointer-coarse:min-h-11',
                  at === active && 'bg-selected',
                )}
              >
                <Icon name={item.icon} className="text-muted" />
                <bdi className="one-line">{item.label}</bdi>
                {item.note && (
                  <span className="one-line ms-auto text-sm text-muted">
                    <bdi>{item.note}</bdi>
                  </span>
                )}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}
