import { type ComponentProps, cloneElement, type ReactElement, useId } from 'react';
import { useAnchored } from './anchored.ts';
import { later } from './load-code.ts';
import type { MenuItem } from './menu-list.tsx';

const useMenuList = later(async () => (await import('./menu-list.tsx')).MenuList);

interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactElement<ComponentProps<'button'>>;
  readonly items: readonly (MenuItem | 'line')[];
}

/** A menu that opens under a button. */
export function Menu({ trigger, items }: MenuProps) {
  const id = useId();
  const anchored = useAnchored();
  const { button, open, onClick, onKeyDown } = anchored;
  const MenuList = useMenuList(open);
  return (
    <>
      {cloneElement(trigger, {
        id,
        ref: button,
        'aria-haspopup': 'menu',
        'aria-expanded': open,
        onClick,
        onKeyDown,
      })}
      {MenuList && <MenuList anchored={anchored} labelledBy={id} items={items} />}
    </>
  );
}
