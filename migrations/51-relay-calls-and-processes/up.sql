-- The same call twice is one card. It is taken back when the client of its last call has gone.
ALTER TABLE relay_proposals ADD COLUMN calls INTEGER NOT NULL DEFAULT 1 CHECK (calls >= 0); -- whose clients have not gone, or may ask for it later
