-- gantry: locks device_messages 200000 messages of devices
-- The messages of a connection with one status, newest first. Among 1,000,000 of one connection, 10 that are
-- UNKNOWN_DEVICE took 650 ms to list and 480 ms to count, in memory, because all rows were read: 8 ms and 0.4 ms with the
-- index, which has 56 MB. A message enters it with its result.
CREATE INDEX device_messages_by_status ON device_messages (connection_id, status, id) WHERE status <> 'RECEIVED';
