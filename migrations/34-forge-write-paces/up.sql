-- How far an installation's writes at the forge have used up its pace; all replicas share it.
CREATE TABLE forge_write_paces (
    installation_id  INTEGER PRIMARY KEY,
    booked_until     INTEGER NOT NULL                  -- microseconds UTC: each write books one interval
) STRICT;
