import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Subject } from './subject.ts';

/** A link to the subject of an entry. */
export function SubjectLink({
  subject,
  children,
}: {
  readonly subject: Subject;
  readonly children: ReactNode;
}) {
  return (
    <Link to={subject.to} search={(subject.search ?? {}) as never} className="text-accent underline">
      {children}
    </Link>
  );
}
