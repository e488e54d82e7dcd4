-- Who changed an entry of the watchlist last, to be named to whoever has not seen the change. null: nobody since it was added,
-- or since this is recorded.
ALTER TABLE watchlist_entries ADD COLUMN updated_by uuid;
