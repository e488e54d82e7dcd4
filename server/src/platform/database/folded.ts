import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** A text as it is compared without regard to case; what `fold` of fold.ts answers for it. */
export function foldedText(value: SQLWrapper | string): SQL {
  return sql`gantry_fold(${value}::text)`;
}

/** Whether a text is in the value, whatever its case. Unlike LIKE it has no wildcards to escape. */
export function contains(value: SQLWrapper, part: string): SQL {
  return sql`strpos(${foldedText(value)}, ${foldedText(part)}) > 0`;
}

/** A name as it is sorted: as dictionaries do, whatever its case. */
export function sortedName(value: SQLWrapper): SQL {
  return sql`(${foldedText(value)} COLLATE gantry_names)`;
}
