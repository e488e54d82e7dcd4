import type { ReactNode } from 'react';
import { useTitle } from './title.ts';

interface PageHeaderProps {
  readonly title: ReactNode;
  /** The name of the subject in the title of the document, if the page shows a single object. */
  readonly subject?: string | null | undefined;
  /** Shown next to the title, such as a total, a status, or the name of the subject. */
  readonly note?: ReactNode;
  /** The buttons of the page, at the end of the line. */
  readonly children?: ReactNode;
}

/** The header of a page: its title, a note and its buttons. */
export function PageHeader({ title, subject, note, children }: PageHeaderProps) {
  useTitle('part', typeof title === 'string' ? title : undefined);
  useTitle('item', subject);
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
