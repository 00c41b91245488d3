-- It may come before the first page, from a file that `simhash-gate store export` wrote.
CREATE OR REPLACE FUNCTION keep_site_memory(page_scope text, memory bytea) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    here integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    SELECT id INTO here FROM scope WHERE name = page_scope;
    IF here IS NULL THEN
        INSERT INTO scope (name) VALUES (page_scope) RETURNING id INTO here;
    END IF;
    INSERT INTO site_memory VALUES (here, memory)
        ON CONFLICT (scope) DO UPDATE SET repeated = excluded.repeated;
END
$$;

-- Removes what is left of pages that are gone, of about `most` scopes and runs at a time; false when
-- nothing is left: what scopes without pages repeat, their names, and ended runs without pages.
CREATE FUNCTION sweep(most integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    place record;
    swept bigint;
    total bigint := 0;
BEGIN
    -- In the order of their ids, like everyone who locks two.
    FOR place IN
        SELECT id, name FROM scope WHERE kept <= 0 ORDER BY id LIMIT most
    LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(place.name, 20));
        DELETE FROM scope WHERE id = place.id AND kept <= 0;
        IF FOUND THEN
            DELETE FROM site_memory WHERE scope = place.id;
            total := total + 1;
        END IF;
    END LOOP;
    DELETE FROM run WHERE id IN (
        SELECT id FROM run
        WHERE state IN ('ended', 'buried') AND NOT EXISTS (SELECT FROM page WHERE page.run = run.id)
        LIMIT most
    );
    GET DIAGNOSTICS swept = ROW_COUNT;
    RETURN total + swept > 0;
END
$$;
