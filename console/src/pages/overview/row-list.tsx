import { type ComponentProps, useLayoutEffect, useRef } from 'react';
import { classes } from '../../ui/classes.ts';

interface RowListProps extends ComponentProps<'ul'> {
  /** Whether the list is on a wall display, where it is as high as its panel and nobody can scroll it. */
  readonly isWall: boolean;
  /** Called with the number of rows that are shown. */
  readonly onFit?: (rows: number) => void;
}

/** A list of rows. On a wall display it shows those that fit as a whole: the others wrap into columns beyond its edge. */
export function RowList({ isWall, onFit, className, ...rest }: RowListProps) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const fit = () => {
      const rows = [...element.children].filter((row) => row instanceof HTMLElement);
      for (const row of rows) row.inert = row.offsetLeft !== rows[0]?.offsetLeft;
      onFit?.(rows.filter((row) => !row.inert).length);
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    return () => observer.disconnect();
  });
  return (
    <ul
      ref={list}
      {...rest}
      className={classes(
        className,
        isWall &&
          'lg:flex lg:min-h-0 lg:grow lg:basis-0 lg:flex-col lg:flex-wrap lg:content-start lg:overflow-clip',
        isWall && 'lg:*:w-full lg:*:inert:invisible',
      )}
    />
  );
}
