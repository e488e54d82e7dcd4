import type { ReactNode } from 'react';

interface PageHeaderProps {
  readonly title: ReactNode;
  /** Beside the title: figures, or of what the page is. */
  readonly note?: ReactNode;
  /** The commands of the page. */
  readonly children?: ReactNode;
}

/** The title of a page, and its commands. */
export function PageHeader({ title, note, children }: PageHeaderProps) {
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b px-4 py-2">
      <h1 className="min-w-0 max-w-full overflow-clip text-xl font-semibold [overflow-clip-margin:4px]">
        {title}
      </h1>
      {note !== undefined && <div className="figures text-muted">{note}</div>}
      <div className="ms-auto flex flex-wrap items-center gap-2 print:hidden">{children}</div>
    </header>
  );
}
