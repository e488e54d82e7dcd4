import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/**
 * What is shown in place of a list without rows. There are four cases, and each says its own: nothing was ever there (with
 * the first step), nothing meets the filters (clear them), it failed (`Failure`), and the role may not see it (`NotAllowed`).
 */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="mx-auto flex w-full max-w-xl flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon name={icon} size={28} className="text-muted" />
      <p className="text-lg font-semibold">{title}</p>
      {children && <div className="max-w-full text-muted">{children}</div>}
      {action}
    </div>
  );
}
