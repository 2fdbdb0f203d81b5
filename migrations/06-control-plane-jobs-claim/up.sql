-- What a claim reads: the next available job, and the first lease to run out. Neither grows with history.
CREATE INDEX control_plane_jobs_available ON control_plane_jobs (available_at, id) WHERE status = 'available';
CREATE INDEX control_plane_jobs_leased ON control_plane_jobs (lease_expires_at, id) WHERE status = 'leased';
