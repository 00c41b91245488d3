-- What runs know of the visits to pages: of each page one row a run, or two if one of them is durable.
-- Requests can be longer than a B-tree takes: `page` is a hash of scope and request. Who looks a page
-- up does not name the scope: the planner, which may meet an empty table, would read all of it then.
CREATE TABLE history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    page bigint NOT NULL,
    run bigint NOT NULL,
    seen double precision NOT NULL,
    scope integer NOT NULL,
    durable boolean NOT NULL DEFAULT false,
    request text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    history bytea NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX history_page ON history (page);
CREATE INDEX history_order ON history (scope, id);
CREATE INDEX history_run ON history (run);

-- Notes on a scope, a JSON object.
CREATE TABLE site_notes (
    scope text COLLATE "C" NOT NULL,
    notes bytea NOT NULL,
    EXCLUDE USING hash (scope WITH =)
);

-- Texts of pages by the digest of the page, compressed already, and how many bytes all of them have.
CREATE TABLE kept_text (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bigint NOT NULL,
    at double precision NOT NULL,
    scope text COLLATE "C" NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE kept_text ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX kept_text_digest ON kept_text (digest);
CREATE INDEX kept_text_at ON kept_text (at, id);

CREATE TABLE texts_size (bytes bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO texts_size VALUES (0);

CREATE FUNCTION page_number(scope integer, request text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(request, scope);

-- The newest of a page's histories that counts for a run: its own, of equally new ones.
CREATE FUNCTION history_of(page_scope text, page_request text, page_run text) RETURNS bytea
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    here integer;
BEGIN
    SELECT id INTO here FROM scope WHERE name = page_scope;
    RETURN (
        SELECT history.history FROM history JOIN run ON run.id = history.run
        WHERE page = page_number(here, page_request) AND request = page_request
            AND (durable OR run.state = 'ended' OR run.state = 'live' AND run.name = page_run)
        ORDER BY seen DESC, run.name = page_run DESC LIMIT 1
    );
END
$$;

-- Keeps the history of a page. Of those of ended runs only the newest stays, and of more than `most`
-- pages of the scope those go that were visited longest ago. False if the run is not live.
CREATE FUNCTION keep_history(
    page_run bigint, page_scope text, page_request text, page_url text, page_seen double precision,
    new bytea, most bigint, seldom bigint
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    here record;
    other record;
    own bigint;
    wanted bigint;
    number bigint;
    newest boolean := true;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    LOOP
        SELECT id, EXISTS (
            SELECT FROM run WHERE id = page_run AND state = 'live' AND expires > clock_timestamp()
        ) AS live
        INTO here FROM scope WHERE name = page_scope;
        EXIT WHEN FOUND;
        INSERT INTO scope (name) VALUES (page_scope);
    END LOOP;
    IF NOT here.live THEN
        RETURN false;
    END IF;
    wanted := page_number(here.id, page_request);
    FOR other IN
        SELECT id, run, durable, (SELECT state FROM run WHERE run.id = history.run) AS state
        FROM history WHERE page = wanted AND request = page_request ORDER BY seen DESC
    LOOP
        IF other.run = page_run THEN
            own := CASE WHEN other.durable THEN own ELSE other.id END;
        ELSIF other.state = 'ended' OR other.durable AND other.state <> 'live' THEN
            IF NOT newest THEN
                DELETE FROM history WHERE id = other.id;
            END IF;
            newest := false;
        END IF;
    END LOOP;
    IF own IS NOT NULL THEN
        UPDATE history SET seen = page_seen, url = page_url, history = new WHERE id = own;
        RETURN true;
    END IF;
    INSERT INTO history (page, run, seen, scope, request, url, history)
        VALUES (wanted, page_run, page_seen, here.id, page_request, page_url, new)
        RETURNING id INTO number;
    IF number % seldom = 0 AND (SELECT count(*) FROM history WHERE scope = here.id) > most
        AND (SELECT count(DISTINCT page) FROM history WHERE scope = here.id) > most
    THEN
        DELETE FROM history WHERE scope = here.id AND page IN (
            SELECT page FROM history WHERE scope = here.id
            GROUP BY page ORDER BY max(seen) DESC OFFSET most - most / 20
        );
    END IF;
    RETURN true;
END
$$;

-- Removes what a run kept of a page; what all runs did, without a run.
CREATE FUNCTION forget_history(page_scope text, page_request text, page_run text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    here integer;
BEGIN
    SELECT id INTO here FROM scope WHERE name = page_scope;
    DELETE FROM history
        WHERE page = page_number(here, page_request) AND request = page_request
            AND (
                page_run IS NULL
                OR (SELECT name FROM run WHERE run.id = history.run) = page_run
            );
END
$$;

-- Empty notes are none.
CREATE FUNCTION keep_site_notes(page_scope text, new bytea) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    DELETE FROM site_notes WHERE scope = page_scope;
    IF length(new) > 0 THEN
        INSERT INTO site_notes VALUES (page_scope, new);
    END IF;
END
$$;

-- Keeps a text; the oldest go until all are `budget` bytes or less. One crawler at a time.
CREATE FUNCTION keep_text(
    page_scope text, page_digest bigint, new bytea, seen double precision, budget bigint
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    oldest record;
    total bigint;
    before double precision;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema(), 24));
    SELECT at INTO before FROM kept_text WHERE digest = page_digest AND scope = page_scope;
    PERFORM forget_text(page_scope, page_digest);
    INSERT INTO kept_text (digest, at, scope, data)
        VALUES (page_digest, greatest(seen, before), page_scope, new);
    SELECT bytes + length(new) INTO total FROM texts_size;
    WHILE total > budget LOOP
        SELECT id, length(data) AS size INTO oldest FROM kept_text ORDER BY at, id LIMIT 1;
        EXIT WHEN NOT FOUND;
        DELETE FROM kept_text WHERE id = oldest.id;
        total := total - oldest.size;
    END LOOP;
    UPDATE texts_size SET bytes = total;
END
$$;

CREATE FUNCTION forget_text(page_scope text, page_digest bigint) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema(), 24));
    DELETE FROM kept_text WHERE digest = page_digest AND scope = page_scope
        RETURNING length(data) INTO gone;
    IF FOUND THEN
        UPDATE texts_size SET bytes = bytes - gone;
    END IF;
END
$$;

-- Moves when a page was seen last, never back.
CREATE FUNCTION see(
    page_scope text, page_run text, page_request text, page_fingerprint bigint, seen double precision
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    here integer;
BEGIN
    SELECT id INTO here FROM scope WHERE name = page_scope;
    UPDATE page SET last_seen = seen
        WHERE bucket0 = bucket(here, page_fingerprint, 0) AND fingerprint = page_fingerprint
            AND request = page_request AND last_seen < seen
            AND (SELECT name FROM run WHERE run.id = page.run) = page_run;
END
$$;

-- As before, and what the runs kept of the visits to these requests counts whatever becomes of them.
CREATE OR REPLACE FUNCTION settle(
    scopes text[], runs text[], requests text[], fingerprints bigint[], and_durable boolean
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    wanted record;
    here integer;
    visited bigint[];
BEGIN
    IF and_durable THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    FOR wanted IN
        SELECT * FROM unnest(scopes, runs, requests, fingerprints)
            AS wanted (scope, run, request, fingerprint)
    LOOP
        SELECT id INTO here FROM scope WHERE name = wanted.scope;
        UPDATE page SET settled = true, durable = durable OR and_durable
            WHERE bucket0 = bucket(here, wanted.fingerprint, 0)
                AND fingerprint = wanted.fingerprint AND request = wanted.request
                AND (SELECT name FROM run WHERE run.id = page.run) = wanted.run;
        IF and_durable THEN
            SELECT array_agg(history.id ORDER BY history.id DESC) INTO visited
                FROM history JOIN run ON run.id = history.run
                WHERE history.page = page_number(here, wanted.request) AND history.request = wanted.request
                    AND run.name = wanted.run;
            DELETE FROM history WHERE id = ANY (visited[2:]);
            UPDATE history SET durable = true WHERE id = visited[1] AND NOT durable;
        END IF;
    END LOOP;
END
$$;

-- As before; a run of which a history is durable has left something that counts.
CREATE OR REPLACE FUNCTION begin_run(wanted text, wanted_owner bigint, lease interval) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    known record;
    opened bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(wanted, 21));
    FOR known IN SELECT id, owner, state, expires FROM run WHERE name = wanted LOOP
        IF known.owner = wanted_owner AND known.state = 'live' THEN
            UPDATE run SET expires = clock_timestamp() + lease WHERE id = known.id;
            RETURN known.id;
        ELSIF counts(known.state, known.expires) OR known.owner <> wanted_owner AND (
            EXISTS (SELECT FROM page WHERE run = known.id AND durable)
            OR EXISTS (SELECT FROM history WHERE run = known.id AND durable)
        )
        THEN
            RETURN NULL;
        END IF;
    END LOOP;
    UPDATE run SET state = 'dead' WHERE name = wanted AND state = 'live';
    INSERT INTO run (name, owner, expires) VALUES (wanted, wanted_owner, clock_timestamp() + lease)
        RETURNING id INTO opened;
    RETURN opened;
END
$$;

-- As before; then the histories of dead runs.
CREATE OR REPLACE FUNCTION reap(most integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    doomed bigint[];
    places integer[];
    place record;
BEGIN
    IF NOT EXISTS (
        SELECT FROM run
        WHERE state IN ('live', 'dead') AND (state = 'dead' OR expires <= clock_timestamp())
    ) OR NOT pg_try_advisory_xact_lock(hashtextextended(current_schema(), 22)) THEN
        RETURN false;
    END IF;
    UPDATE run SET state = 'dead' WHERE state = 'live' AND expires <= clock_timestamp();
    SELECT array_agg(page.id) INTO doomed FROM (
        SELECT page.id FROM page
        WHERE page.run = ANY (ARRAY(SELECT run.id FROM run WHERE state = 'dead'))
            AND NOT page.durable
        LIMIT most
    ) AS page;
    IF doomed IS NULL THEN
        DELETE FROM history WHERE id IN (
            SELECT history.id FROM history
            WHERE history.run = ANY (ARRAY(SELECT run.id FROM run WHERE state = 'dead'))
                AND NOT history.durable
            LIMIT most
        );
        IF FOUND THEN
            RETURN true;
        END IF;
        UPDATE run SET state = 'buried'
            WHERE state = 'dead' AND expires < clock_timestamp() - interval '10 seconds';
        RETURN false;
    END IF;
    -- Few scopes at a time: each takes a lock. In the order of their ids, like everyone who takes two.
    FOR place IN
        SELECT id, name FROM scope
        WHERE id IN (SELECT scope FROM page WHERE page.id = ANY (doomed)) ORDER BY id LIMIT 100
    LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(place.name, 20));
        places := places || place.id;
    END LOOP;
    WITH gone AS (
        DELETE FROM page WHERE id = ANY (doomed) AND scope = ANY (places) RETURNING scope
    ), counted AS (
        SELECT scope, count(*) AS pages FROM gone GROUP BY scope
    )
    UPDATE scope SET kept = kept - pages FROM counted WHERE scope.id = counted.scope;
    RETURN true;
END
$$;

-- As before; names stay that histories need.
CREATE OR REPLACE FUNCTION sweep(most integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    place record;
    swept bigint;
    total bigint := 0;
BEGIN
    -- In the order of their ids, like everyone who locks two.
    FOR place IN
        SELECT id, name FROM scope
        WHERE kept <= 0 AND (
            NOT EXISTS (SELECT FROM history WHERE history.scope = scope.id)
            OR EXISTS (SELECT FROM site_memory WHERE site_memory.scope = scope.id)
        )
        ORDER BY id LIMIT most
    LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(place.name, 20));
        IF EXISTS (SELECT FROM scope WHERE id = place.id AND kept <= 0) THEN
            DELETE FROM site_memory WHERE scope = place.id;
            DELETE FROM scope WHERE id = place.id
                AND NOT EXISTS (SELECT FROM history WHERE history.scope = place.id);
            total := total + 1;
        END IF;
    END LOOP;
    DELETE FROM run WHERE id IN (
        SELECT id FROM run
        WHERE state IN ('ended', 'buried') AND NOT EXISTS (SELECT FROM page WHERE page.run = run.id)
            AND NOT EXISTS (SELECT FROM history WHERE history.run = run.id)
        LIMIT most
    );
    GET DIAGNOSTICS swept = ROW_COUNT;
    RETURN total + swept > 0;
END
$$;
