import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import type { Anchored } from './anchored.ts';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: ReactNode;
  readonly icon?: IconName;
  readonly onSelect: () => void;
  readonly disabled?: boolean;
  /** Marks the current choice among several items. */
  readonly checked?: boolean;
}

interface MenuListProps {
  readonly anchored: Anchored;
  /** The id of the button, which labels the menu. */
  readonly labelledBy: string;
  readonly items: readonly (MenuItem | 'line')[];
}

/** The list of `Menu`, in a module that is loaded later. */
export function MenuList({ anchored, labelledBy, items }: MenuListProps) {
  const { button, open, onOpenChange } = anchored;
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Positioner anchor={button} sideOffset={4} align="end" className="z-50">
          <Base.Popup
            aria-labelledby={labelledBy}
            finalFocus={button}
            className="max-h-(--available-height) min-w-48 overflow-y-auto rounded-md border bg-raised p-1 shadow-xl outline-none"
          >
            {items.map((item, at) =>
              item === 'line' ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: separators have no other key
                <Base.Separator key={at} className="my-1 border-t" />
              ) : (
                <Base.Item
                  // biome-ignore lint/suspicious/noArrayIndexKey: the items of a menu are not reordered
                  key={at}
                  disabled={item.disabled}
                  onClick={item.onSelect}
                  className="flex cursor-default items-center gap-2 rounded px-2 py-1.5 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover pointer-coarse:py-3"
                >
                  {item.icon ? <Icon name={item.icon} className="text-muted" /> : null}
                  <span className="grow">{item.label}</span>
                  {item.checked && <Icon name="acknowledge" />}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
