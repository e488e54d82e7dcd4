import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** A text in the form for comparison without regard to case, with the same result as `caseFold` of case-fold.ts. */
export function caseFolded(value: SQLWrapper | string): SQL {
  return sql`gantry_fold(${value}::text)`;
}

/** Whether the value contains a text, without regard to case. Unlike LIKE it has no wildcards to escape. */
export function contains(value: SQLWrapper, part: string): SQL {
  return sql`strpos(${caseFolded(value)}, ${caseFolded(part)}) > 0`;
}

/** Whether an array of tags has a tag, without regard to case. */
export function hasTag(tags: SQLWrapper, tag: string): SQL {
  return sql`EXISTS (SELECT FROM unnest(${tags}) AS given (tag) WHERE ${caseFolded(sql`given.tag`)} = ${caseFolded(tag)})`;
}

/** A name in the form for sorting: in dictionary order, without regard to case. */
export function sortedName(value: SQLWrapper): SQL {
  return sql`(${caseFolded(value)} COLLATE gantry_names)`;
}
