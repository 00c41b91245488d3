-- What a scope repeats on pages of different names, as the gate encodes it.
CREATE TABLE site_memory (
    scope integer PRIMARY KEY,
    repeated bytea NOT NULL
);

CREATE FUNCTION keep_site_memory(page_scope text, memory bytea) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    INSERT INTO site_memory SELECT id, memory FROM scope WHERE name = page_scope
        ON CONFLICT (scope) DO UPDATE SET repeated = excluded.repeated;
END
$$;
