import type { ReactNode } from 'react';

/** A titled section of the details of an event. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1.5">
      <h3 className="text-sm font-medium text-muted">{title}</h3>
      {children}
    </section>
  );
}

/** A name and its value, inside `Facts`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

/** A list of `Fact`s, one per row. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-1">{children}</dl>;
}
