-- Further rules to start with, as those of 0074. Somebody who deletes them does not get them again.
INSERT INTO alarm_rules (name, enabled, source, condition, severity, for_seconds, group_by) VALUES
  ('Hotlist stale', false, 'HOTLIST',
    '{"source": "HOTLIST", "states": ["STALE", "REFUSED", "SOURCE"], "listId": null}', 3, 300, '{RULE}'),
  ('Nobody on duty', false, 'SYSTEM', '{"source": "SYSTEM", "part": "DUTY", "threshold": 1}', 3, 0, '{RULE}');
