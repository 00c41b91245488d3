-- Timestamps are of the server's clock; first_seen and last_seen are Unix times of the crawlers.
-- Names of runs, scopes and pipeline versions can be longer than a B-tree takes: they are hashed.

CREATE TABLE run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    owner bigint NOT NULL,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'ended', 'dead', 'buried')),
    begun timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires timestamptz NOT NULL
);
CREATE INDEX run_name ON run USING hash (name);
CREATE INDEX run_state ON run (state) WHERE state IN ('live', 'dead');

CREATE TABLE pipeline (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    EXCLUDE USING hash (name WITH =)
);

-- All of its pages have a greater id than `evicted`: without that, a search for the oldest would
-- pass over the index entries of all that were evicted since the last vacuum.
CREATE TABLE scope (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    kept bigint NOT NULL DEFAULT 0,
    evicted bigint NOT NULL DEFAULT 0,
    EXCLUDE USING hash (name WITH =)
) WITH (fillfactor = 50);

-- Within a scope, ids are in order of insertion. Fingerprint and digest are the unsigned values read
-- as signed ones. A bucket is the number of the scope and 16 bits of the fingerprint. In one column,
-- because the planner, which may meet an empty table, then has one index only to look it up by.
-- There are no foreign keys: each would be looked up at every insert.
CREATE TABLE page (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    fingerprint bigint NOT NULL,
    digest bigint NOT NULL,
    bucket0 bigint NOT NULL,
    bucket1 bigint NOT NULL,
    bucket2 bigint NOT NULL,
    bucket3 bigint NOT NULL,
    first_seen double precision NOT NULL,
    last_seen double precision NOT NULL,
    words bigint NOT NULL,
    scope integer NOT NULL,
    pipeline integer NOT NULL,
    settled boolean NOT NULL DEFAULT false,
    durable boolean NOT NULL DEFAULT false,
    request text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    sketch bytea NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX page_order ON page (scope, id);
CREATE INDEX page_run ON page (run);
CREATE INDEX page_bucket0 ON page (bucket0);
CREATE INDEX page_bucket1 ON page (bucket1);
CREATE INDEX page_bucket2 ON page (bucket2);
CREATE INDEX page_bucket3 ON page (bucket3);

CREATE FUNCTION bucket(scope integer, fingerprint bigint, block integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (scope::bigint << 16) | ((fingerprint >> 16 * block) & 65535);

CREATE FUNCTION hamming_distance(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count((a # b)::bit(64))::integer;

CREATE FUNCTION counts(state text, expires timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN state = 'ended' OR state = 'live' AND expires > clock_timestamp();

CREATE FUNCTION pipeline_id(wanted text) RETURNS integer
LANGUAGE sql
AS $$
    INSERT INTO pipeline (name) SELECT wanted
        WHERE NOT EXISTS (SELECT FROM pipeline WHERE name = wanted) ON CONFLICT DO NOTHING;
    SELECT id FROM pipeline WHERE name = wanted;
$$;

-- Prolongs the lease of a run; false if it was found dead.
CREATE FUNCTION renew_run(wanted bigint, lease interval) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE run SET expires = clock_timestamp() + lease WHERE id = wanted AND state = 'live';
    RETURN FOUND;
END
$$;

-- Closes a run, on disk when this returns; false if it was found dead.
CREATE FUNCTION end_run(wanted bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    UPDATE run SET state = 'ended' WHERE id = wanted AND state IN ('live', 'ended');
    RETURN FOUND;
END
$$;

CREATE FUNCTION forget(page_scope text, page_run text, page_request text, page_fingerprint bigint)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    here integer;
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    SELECT id INTO here FROM scope WHERE name = page_scope;
    DELETE FROM page
        WHERE bucket0 = bucket(here, page_fingerprint, 0) AND fingerprint = page_fingerprint
            AND request = page_request AND (SELECT name FROM run WHERE run.id = page.run) = page_run;
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE scope SET kept = kept - gone WHERE id = here AND gone > 0;
    RETURN gone > 0;
END
$$;

-- Comparing (scope, id) as one leaves the planner page_order alone, whatever it knows of the table.

-- The id of the first among the last `most` pages of a scope that has more.
CREATE FUNCTION first_of_window(page_scope integer, evicted bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql STABLE
AS $$
BEGIN
    IF most <= 0 THEN
        RETURN 9223372036854775807;
    END IF;
    RETURN (
        SELECT id FROM page WHERE (scope, id) > (page_scope, evicted) AND (scope, id) < (page_scope + 1, 0)
        ORDER BY scope DESC, id DESC OFFSET most - 1 LIMIT 1
    );
END
$$;

-- What tells a page from every other of its scope.
CREATE FUNCTION identity(run text, request text, fingerprint bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN fingerprint::text || ' ' || length(run)::text || ' ' || run || request;

-- For those who ask in SQL: what is remembered, and counts.
CREATE VIEW kept_page AS
SELECT
    page.id,
    scope.name AS scope,
    page.url,
    page.title,
    page.words,
    lpad(to_hex(page.fingerprint), 16, '0') AS fingerprint,
    to_timestamp(page.first_seen) AS first_seen,
    to_timestamp(page.last_seen) AS last_seen,
    run.name AS run,
    run.state AS run_state,
    page.settled,
    pipeline.name AS pipeline,
    page.request
FROM page
JOIN scope ON scope.id = page.scope
JOIN pipeline ON pipeline.id = page.pipeline
JOIN run ON run.id = page.run
WHERE page.durable OR counts(run.state, run.expires);

-- Pairs of kept pages of one scope and pipeline version that are within 8 bits of each other, and
-- agree in one of the four blocks: these are all pairs within 3 bits, and some of those beyond.
CREATE VIEW near_duplicate_pages AS
SELECT
    scope.name AS scope,
    pair.distance,
    a.url,
    b.url AS near_url,
    a.title,
    b.title AS near_title,
    to_timestamp(a.first_seen) AS first_seen,
    to_timestamp(b.first_seen) AS near_first_seen
FROM (
    SELECT a.id, b.id AS near_id, hamming_distance(a.fingerprint, b.fingerprint) AS distance
    FROM page AS a JOIN page AS b ON b.bucket0 = a.bucket0
    UNION
    SELECT a.id, b.id, hamming_distance(a.fingerprint, b.fingerprint)
    FROM page AS a JOIN page AS b ON b.bucket1 = a.bucket1
    UNION
    SELECT a.id, b.id, hamming_distance(a.fingerprint, b.fingerprint)
    FROM page AS a JOIN page AS b ON b.bucket2 = a.bucket2
    UNION
    SELECT a.id, b.id, hamming_distance(a.fingerprint, b.fingerprint)
    FROM page AS a JOIN page AS b ON b.bucket3 = a.bucket3
) AS pair
JOIN page AS a ON a.id = pair.id
JOIN page AS b ON b.id = pair.near_id
JOIN scope ON scope.id = a.scope
WHERE a.id <> b.id AND a.pipeline = b.pipeline AND pair.distance <= 8;

-- The kept pages of a scope within `radius` bits of a fingerprint of 16 hex digits, nearest first.
CREATE FUNCTION near_duplicates(fingerprint text, scope text, radius integer DEFAULT 3)
RETURNS TABLE (distance integer, url text, title text, words bigint, first_seen timestamptz, pipeline text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT hamming_distance(page.fingerprint, wanted.bits), page.url, page.title, page.words,
        to_timestamp(page.first_seen), pipeline.name
    FROM page
    JOIN scope ON scope.id = page.scope
    JOIN pipeline ON pipeline.id = page.pipeline
    JOIN run ON run.id = page.run
    CROSS JOIN (SELECT ('x' || near_duplicates.fingerprint)::bit(64)::bigint AS bits) AS wanted
    WHERE scope.name = near_duplicates.scope
        AND hamming_distance(page.fingerprint, wanted.bits) <= radius
        AND (page.durable OR counts(run.state, run.expires))
    ORDER BY 1, page.id DESC;
END;

-- What `check_and_add` says of a page: whether it was added, and the match. All of it is NULL if the
-- run is not live.
CREATE TYPE answer AS (
    distance integer,
    added boolean,
    settled boolean,
    fingerprint bigint,
    digest bigint,
    words bigint,
    first_seen double precision,
    last_seen double precision,
    run_name text,
    url text,
    request text,
    title text,
    sketch bytea
);

-- Returns how unlike another page is: 0 for the same request, 1 where both sketches begin with the
-- same key, 2 with the half of it that stands for the name.
CREATE FUNCTION unlikeness(request text, sketch bytea, page_request text, page_sketch bytea)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN request = page_request THEN 0
    WHEN substring(sketch FOR 8) = substring(page_sketch FOR 8) THEN 1
    WHEN substring(sketch FOR 4) = substring(page_sketch FOR 4) THEN 2
    ELSE 3
END;

-- What a scope repeats on pages of different names, as the gate encodes it.
CREATE TABLE site_memory (
    scope integer PRIMARY KEY,
    repeated bytea NOT NULL
);

-- A memory may come before the first page, from a file that `simhash-gate store export` wrote.
CREATE FUNCTION keep_site_memory(page_scope text, memory bytea) RETURNS void
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

-- What is known of the URLs of a scope, as `simhash_gate.urls` encodes it.
CREATE TABLE url_rules (
    scope text PRIMARY KEY,
    rules bytea NOT NULL
);

-- Empty rules are none.
CREATE FUNCTION keep_url_rules(page_scope text, new bytea) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF length(new) = 0 THEN
        DELETE FROM url_rules WHERE scope = page_scope;
    ELSE
        INSERT INTO url_rules VALUES (page_scope, new)
            ON CONFLICT (scope) DO UPDATE SET rules = excluded.rules;
    END IF;
END
$$;

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

-- Marks pages as settled; with `and_durable` also as counting whatever becomes of their run, and
-- that is on disk when this returns. So does what the runs kept of the visits to these requests.
CREATE FUNCTION settle(
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

-- Opens a run, or finds the one that the same owner opened; NULL if the name is taken: by a run
-- that lives or has ended, or left pages or histories that count.
CREATE FUNCTION begin_run(wanted text, wanted_owner bigint, lease interval) RETURNS bigint
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

-- Removes pages of dead runs, about `most` at a time, then their histories; false when there are none
-- left. A dead run is looked at until whoever found it live has long committed; what is durable of it
-- stays.
CREATE FUNCTION reap(most integer) RETURNS boolean
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

-- Removes what is left of pages that are gone, of about `most` scopes and runs at a time; false when
-- nothing is left: what scopes without pages repeat, their names, and ended runs without pages. Names
-- stay that histories need.
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

-- Removes the oldest pages of a scope that has `now_kept` of them, until `most` are left and the
-- oldest was last seen at `since` or later.
CREATE FUNCTION evict(
    page_scope integer, now_kept bigint, evicted_to bigint, most bigint, since double precision
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    oldest record;
BEGIN
    WHILE now_kept > most OR since > '-infinity' LOOP
        SELECT id, last_seen INTO oldest FROM page
            WHERE (scope, id) > (page_scope, evicted_to) AND (scope, id) < (page_scope + 1, 0)
            ORDER BY scope, id LIMIT 1;
        EXIT WHEN NOT FOUND OR now_kept <= most AND oldest.last_seen >= since;
        DELETE FROM page WHERE id = oldest.id;
        now_kept := now_kept - 1;
        evicted_to := oldest.id;
    END LOOP;
    UPDATE scope SET kept = now_kept, evicted = evicted_to WHERE id = page_scope;
END
$$;

-- Returns the best match that counts and whose identity is not `refused`: whatever the radius.
-- `probes` are the values to look up in each 16-bit block, instead of the page's own; with `scan` the
-- whole scope is looked through. The window: pages after the id `after`, last seen at `since` or later.
CREATE FUNCTION best_match(
    page_scope integer, page_pipeline integer, page_request text, page_sketch bytea,
    page_fingerprint bigint,
    page_digest bigint, radius integer, near integer, after bigint, since double precision,
    exact boolean, scan boolean,
    probes0 integer[], probes1 integer[], probes2 integer[], probes3 integer[], refused text[]
) RETURNS page
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    best record;
    match page;
    base bigint := page_scope::bigint << 16;
    keys0 bigint[] := ARRAY[bucket(page_scope, page_fingerprint, 0)];
    keys1 bigint[] := ARRAY[bucket(page_scope, page_fingerprint, 1)];
    keys2 bigint[] := ARRAY[bucket(page_scope, page_fingerprint, 2)];
    keys3 bigint[] := ARRAY[bucket(page_scope, page_fingerprint, 3)];
BEGIN
    IF probes0 IS NOT NULL THEN
        keys0 := ARRAY(SELECT base | value FROM unnest(probes0) AS value);
        keys1 := ARRAY(SELECT base | value FROM unnest(probes1) AS value);
        keys2 := ARRAY(SELECT base | value FROM unnest(probes2) AS value);
        keys3 := ARRAY(SELECT base | value FROM unnest(probes3) AS value);
    END IF;
    -- Through OFFSET 0 the planner sees no index but those that are named inside.
    FOR best IN
        SELECT id, fingerprint, request, durable, run
        FROM (
            SELECT id, run, fingerprint, request, durable,
                unlikeness(request, sketch, page_request, page_sketch) AS unlike,
                hamming_distance(fingerprint, page_fingerprint) AS distance
            FROM page
            WHERE (
                bucket0 = ANY (keys0) OR bucket1 = ANY (keys1)
                OR bucket2 = ANY (keys2) OR bucket3 = ANY (keys3)
                OR scope = CASE WHEN scan THEN page_scope END
            ) AND pipeline = page_pipeline AND last_seen >= since
                AND (NOT exact OR digest = page_digest)
            OFFSET 0
        ) AS candidate
        WHERE distance <= greatest(radius, near) AND id > after
        ORDER BY distance > radius, CASE WHEN distance > radius THEN 0 ELSE unlike END, distance, id DESC
    LOOP
        IF EXISTS (
            SELECT FROM run
            WHERE id = best.run AND (best.durable OR counts(state, expires))
                AND identity(name, best.request, best.fingerprint) <> ALL (coalesce(refused, '{}'))
        ) THEN
            SELECT * INTO match FROM page WHERE id = best.id;
            RETURN match;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Looks for a page within `radius` bits (NULL: does not look), and adds this one if there is none.
-- The window: the last `most` pages, last seen at `since` or later. For the rest see `best_match`.
-- Returns NULL if the page was added and there is none near it.
CREATE FUNCTION check_and_add(
    page_run bigint, page_scope text, page_pipeline integer, page_url text, page_request text,
    page_fingerprint bigint, page_digest bigint, page_words bigint, page_title text,
    page_first_seen double precision, page_last_seen double precision, page_sketch bytea,
    page_settled boolean, radius integer, near integer, most bigint, since double precision,
    exact boolean DEFAULT false, scan boolean DEFAULT false,
    probes0 integer[] DEFAULT NULL, probes1 integer[] DEFAULT NULL,
    probes2 integer[] DEFAULT NULL, probes3 integer[] DEFAULT NULL,
    refused text[] DEFAULT NULL
) RETURNS answer
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    here record;
    other page;
    best page;
    rank integer; -- the distance, and 100 for each step of unlikeness, or 400 beyond the radius
    best_rank integer;
    its_name text; -- of the run of the best, where it is not this one
    its_state text;
    its_lease timestamptz;
    wide boolean;
    after bigint;
    said answer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    LOOP
        SELECT id, kept, evicted,
            bucket(id, page_fingerprint, 0) AS bucket0, bucket(id, page_fingerprint, 1) AS bucket1,
            bucket(id, page_fingerprint, 2) AS bucket2, bucket(id, page_fingerprint, 3) AS bucket3,
            (
                SELECT name FROM run
                WHERE id = page_run AND state = 'live' AND expires > clock_timestamp()
            ) AS run_name
        INTO here FROM scope WHERE name = page_scope;
        EXIT WHEN FOUND;
        INSERT INTO scope (name) VALUES (page_scope);
    END LOOP;
    IF here.run_name IS NULL THEN
        said.added := NULL; -- a row of NULLs, which is not NULL itself
        RETURN said;
    END IF;

    IF radius IS NOT NULL AND here.kept > 0 THEN
        after := CASE WHEN here.kept > most
            THEN first_of_window(here.id, here.evicted, most) - 1 ELSE here.evicted END;
        IF probes0 IS NULL AND refused IS NULL THEN
            FOR other IN
                SELECT * FROM page
                WHERE (
                    bucket0 = here.bucket0 OR bucket1 = here.bucket1
                    OR bucket2 = here.bucket2 OR bucket3 = here.bucket3
                ) AND bit_count((fingerprint # page_fingerprint)::bit(64)) <= greatest(radius, near)
            LOOP
                CONTINUE WHEN other.pipeline <> page_pipeline OR other.last_seen < since
                    OR other.id <= after OR exact AND other.digest <> page_digest;
                rank := hamming_distance(other.fingerprint, page_fingerprint);
                rank := rank + CASE
                    WHEN rank > radius THEN 400
                    ELSE 100 * unlikeness(other.request, other.sketch, page_request, page_sketch)
                END;
                IF best_rank IS NULL OR rank < best_rank OR rank = best_rank AND other.id > best.id THEN
                    best_rank := rank;
                    best := other;
                END IF;
            END LOOP;
            IF best.run <> page_run THEN
                SELECT name, state, expires INTO its_name, its_state, its_lease
                    FROM run WHERE id = best.run;
                -- It may have died with its run: who comes after it?
                wide := NOT (best.durable OR counts(its_state, its_lease));
            END IF;
        ELSE
            wide := true;
        END IF;
        IF wide THEN
            best := best_match(
                here.id, page_pipeline, page_request, page_sketch, page_fingerprint, page_digest,
                radius, near, after, since, exact, scan, probes0, probes1, probes2, probes3, refused
            );
            best_rank := hamming_distance(best.fingerprint, page_fingerprint);
            best_rank := best_rank + CASE WHEN best_rank > radius THEN 400 ELSE 0 END;
            SELECT name, state INTO its_name, its_state FROM run WHERE id = best.run;
        END IF;
        IF best_rank IS NOT NULL THEN
            IF best_rank < 400 AND best.request = page_request AND best.last_seen < page_last_seen THEN
                UPDATE page SET last_seen = page_last_seen WHERE id = best.id;
                best.last_seen := page_last_seen;
            END IF;
            said := ROW(
                best_rank % 100, best_rank >= 400,
                best.settled OR its_state IS NOT DISTINCT FROM 'ended', best.fingerprint,
                best.digest, best.words, best.first_seen, best.last_seen,
                coalesce(its_name, here.run_name), best.url, best.request, best.title, best.sketch
            );
            IF best_rank < 400 THEN
                RETURN said;
            END IF;
        END IF;
    END IF;

    INSERT INTO page (
        run, fingerprint, digest, bucket0, bucket1, bucket2, bucket3, first_seen, last_seen, words,
        scope, pipeline, settled, request, url, title, sketch
    ) VALUES (
        page_run, page_fingerprint, page_digest, here.bucket0, here.bucket1, here.bucket2,
        here.bucket3, page_first_seen, page_last_seen, page_words, here.id, page_pipeline,
        page_settled, page_request, page_url, page_title, page_sketch
    );
    IF here.kept < most AND since = '-infinity' THEN
        UPDATE scope SET kept = kept + 1 WHERE id = here.id;
    ELSE
        PERFORM evict(here.id, here.kept + 1, here.evicted, most, since);
    END IF;
    RETURN said;
END
$$;
