-- Which database this is: plans of svcctl name it, so that none is applied to another one. A copy of the file keeps it.
CREATE TABLE store_identity (
    id           INTEGER PRIMARY KEY CHECK (id = 1),   -- one row for ever
    store_id     TEXT NOT NULL                         -- random UUID, version 4
) STRICT;
INSERT INTO store_identity (id, store_id)
SELECT 1, substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-a' || substr(h, 18, 3) || '-' || substr(h, 21, 12)
FROM (SELECT lower(hex(randomblob(16))) AS h);
