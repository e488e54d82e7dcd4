-- For whom a backup is encrypted (decision 88). Empty: it is not. NULL: it was made before this was recorded.
ALTER TABLE backups ADD COLUMN recipients text[];
