import type { Pool } from 'pg';

// The embedded PostgreSQL comes without pg_dump, so the schema is read from the catalogue, in a form that is the same
// on every supported version.

interface Line {
  text: string;
}

const FUNCTIONS = `
  SELECT pg_get_functiondef(p.oid) || ';' AS text
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname = 'public' ORDER BY p.proname`;

const COLLATIONS = `
  SELECT format('CREATE COLLATION %I (provider = %s, locale = ''und'');', collname,
    CASE collprovider WHEN 'i' THEN 'icu' ELSE 'libc' END) AS text
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace WHERE n.nspname = 'public' ORDER BY collname`;

// Partitions of events are data: they are created month by month.
const NO_MONTH = `NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid AND inhparent = 'events'::regclass)`;

const COLUMNS = `
  SELECT format(E'CREATE TABLE %I (\\n%s\\n)%s;', c.relname,
    string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation NOT IN (0, 100) THEN ' COLLATE "C"' ELSE '' END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
      CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY'
           WHEN a.attgenerated = 's' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid))
           WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END),
      E',\\n' ORDER BY a.attnum),
    CASE WHEN c.relkind = 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid)
         WHEN c.reloptions IS NOT NULL THEN ' WITH (' || array_to_string(c.reloptions, ', ') || ')' ELSE '' END) AS text
  FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'schema_migrations'
  GROUP BY c.oid, c.relname, c.relkind, c.reloptions ORDER BY c.relname`;

const PARTITIONS = `
  SELECT format('CREATE TABLE %I PARTITION OF %s %s%s;', c.relname, i.inhparent::regclass,
    pg_get_expr(c.relpartbound, c.oid), ' WITH (' || array_to_string(c.reloptions, ', ') || ')') AS text
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
  WHERE c.relkind = 'r' AND ${NO_MONTH} ORDER BY c.relname`;

const CONSTRAINTS = `
  SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s;', c.relname, k.conname, pg_get_constraintdef(k.oid)) AS text
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND ${NO_MONTH} AND k.contype <> 'n' AND c.relname <> 'schema_migrations'
  ORDER BY c.relname, k.contype DESC, k.conname`;

const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid) || ';' AS text
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND ${NO_MONTH}
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)
  ORDER BY c.relname, x.relname`;

/** The schema of a database as SQL, for reading and comparing rather than running. */
export async function describeSchema(pool: Pool): Promise<string> {
  const parts = [
    ...(await lines(pool, COLLATIONS)),
    ...(await lines(pool, FUNCTIONS)),
    ...(await lines(pool, COLUMNS)),
    ...(await lines(pool, PARTITIONS)),
    (await lines(pool, CONSTRAINTS)).join('\n'),
    (await lines(pool, INDEXES)).join('\n'),
  ];
  return `-- The schema that server/migrations add up to. Generated: npm run generate\n\n${parts.join('\n\n')}\n`;
}

async function lines(pool: Pool, query: string): Promise<string[]> {
  const { rows } = await pool.query<Line>(query);
  return rows.map(({ text }) => text);
}
