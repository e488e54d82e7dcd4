-- What operators decided about events, one row for each decision.

-- Events cannot be referred to by a foreign key. What removes an event removes its reviews.
CREATE TABLE event_reviews (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The order of the reviews of one event.
  seq        bigint GENERATED ALWAYS AS IDENTITY,
  event_id   uuid NOT NULL,
  decision   text COLLATE "C" NOT NULL CHECK (decision IN ('CONFIRMED', 'REJECTED', 'SECOND_LOOK')),
  reason     text,
  user_id    uuid NOT NULL,
  at         timestamptz(3) NOT NULL,
  -- The flags of the event before and after the review, with who set them and when. To undo a review restores those
  -- that are still as the review left them.
  before     jsonb NOT NULL,
  after      jsonb NOT NULL,
  undone_at  timestamptz(3)
);
CREATE INDEX event_reviews_of_event ON event_reviews (event_id, seq);
