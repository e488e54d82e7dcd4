import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** A text as it is compared without regard to case; what `fold` of fold.ts answers for it. */
export const foldedText = (value: SQLWrapper | string): SQL => sql`gantry_fold(${value}::text)`;

/** Whether a text is in the value, whatever its case. Unlike LIKE it has no wildcards to escape. */
export const contains = (value: SQLWrapper, part: string): SQL =>
  sql`strpos(${foldedText(value)}, ${foldedText(part)}) > 0`;

/** A name as it is sorted: as dictionaries do, whatever its case. */
export const sortedName = (value: SQLWrapper): SQL => sql`(${foldedText(value)} COLLATE gantry_names)`;
