-- gantry: locks webhook_deliveries 200000 new deliveries of webhooks, and the follow-up of events
-- Deliveries of all webhooks are listed by the time of their creation.
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (created_at, id);
