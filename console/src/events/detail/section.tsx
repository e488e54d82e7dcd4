import type { ReactNode } from 'react';

/** One part of what is known of an event. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1.5">
      <h3 className="text-sm font-medium text-muted">{title}</h3>
      {children}
    </section>
  );
}

/** A name and what it stands for, in a list of them. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

/** Facts below each other. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-1">{children}</dl>;
}
