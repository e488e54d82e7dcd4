-- The HTTP headers of a message that a mapping may see, as a JSON object, so that it can be tried and replayed with them.
ALTER TABLE device_messages ADD COLUMN headers text;
