-- Pages of the console with their filters, as users save them.

CREATE TABLE saved_views (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  page       text NOT NULL,
  name       text NOT NULL,
  -- The query string of the page.
  search     text NOT NULL,
  -- null: shared. A view of one user goes with the user; a shared one stays.
  owner_id   uuid REFERENCES users (id) ON DELETE CASCADE,
  created_by uuid NOT NULL,
  -- Whether everybody starts the page with it.
  is_default boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (owner_id IS NULL OR (owner_id = created_by AND NOT is_default))
);
CREATE UNIQUE INDEX saved_views_by_name ON saved_views (created_by, page, lower(name));
CREATE UNIQUE INDEX saved_views_default ON saved_views (page) WHERE is_default;
CREATE INDEX saved_views_shared ON saved_views (page) WHERE owner_id IS NULL;
CREATE INDEX saved_views_of_owner ON saved_views (owner_id) WHERE owner_id IS NOT NULL;
