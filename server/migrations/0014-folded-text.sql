-- Text as it is searched and sorted. A server may have been built without ICU, and one before version 17 has no rules of
-- its own for letters beyond ASCII, so what to use is found out here.

-- Text in one case, in which I, İ, ı and i are one letter, and so are the forms of sigma. The same as fold() in
-- server/src/platform/fold-case.ts.
DO $$
DECLARE
  rules text := coalesce(to_regcollation('pg_c_utf8')::text, to_regcollation('"und-x-icu"')::text, '"default"');
BEGIN
  EXECUTE format($body$
    CREATE FUNCTION gantry_fold(value text) RETURNS text
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
      RETURN replace(translate(lower(translate(normalize(value, NFC), 'İI', 'ii') COLLATE %s), 'ıς', 'iσ'), U&'i\0307', 'i')
  $body$, rules);
END $$;

-- The order of names: that of ICU for any language. Without ICU it is that of the letters' code points.
DO $$
BEGIN
  IF to_regcollation('"und-x-icu"') IS NULL THEN
    CREATE COLLATION gantry_names FROM "C";
  ELSE
    CREATE COLLATION gantry_names FROM "und-x-icu";
  END IF;
END $$;
