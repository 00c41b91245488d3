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

-- Opens a run, or finds the one that the same owner opened; NULL if the name is taken: by a run
-- that lives or has ended, or left pages that count.
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
        ELSIF counts(known.state, known.expires) OR known.owner <> wanted_owner
            AND EXISTS (SELECT FROM page WHERE run = known.id AND durable)
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

-- Removes pages of dead runs, about `most` at a time; false when there are none left. A dead run is
-- looked at until whoever found it live has long committed; what is durable of it stays.
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

-- Marks pages as settled; with `and_durable` also as counting whatever becomes of their run, and
-- that is on disk when this returns.
CREATE FUNCTION settle(
    scopes text[], runs text[], requests text[], fingerprints bigint[], and_durable boolean
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    wanted record;
    here integer;
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
    END LOOP;
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

-- Removes the oldest pages of a scope that has `now_kept` of them, until `most` are left and the
-- oldest was first seen at `since` or later.
CREATE FUNCTION evict(
    page_scope integer, now_kept bigint, evicted_to bigint, most bigint, since double precision
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    oldest record;
BEGIN
    WHILE now_kept > most OR since > '-infinity' LOOP
        SELECT id, first_seen INTO oldest FROM page
            WHERE (scope, id) > (page_scope, evicted_to) AND (scope, id) < (page_scope + 1, 0)
            ORDER BY scope, id LIMIT 1;
        EXIT WHEN NOT FOUND OR now_kept <= most AND oldest.first_seen >= since;
        DELETE FROM page WHERE id = oldest.id;
        now_kept := now_kept - 1;
        evicted_to := oldest.id;
    END LOOP;
    UPDATE scope SET kept = now_kept, evicted = evicted_to WHERE id = page_scope;
END
$$;

-- What tells a page from every other of its scope.
CREATE FUNCTION identity(run text, request text, fingerprint bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN fingerprint::text || ' ' || length(run)::text || ' ' || run || request;

-- Looks for a page within `radius` bits (NULL: does not look) whose identity is not `refused`, and
-- adds this one if there is none.
-- `probes` are the values to look up in each 16-bit block, instead of the page's own; with `scan` the
-- whole scope is looked through. The window: the last `most` pages, first seen at `since` or later.
-- The outcome is 'added', 'found', or, of the run, 'not live'.
CREATE FUNCTION check_and_add(
    page_run bigint, page_scope text, page_pipeline integer, page_url text, page_request text,
    page_fingerprint bigint, page_digest bigint, page_words bigint, page_title text,
    page_first_seen double precision, page_last_seen double precision, page_sketch bytea,
    page_settled boolean, radius integer, near integer, exact boolean, scan boolean,
    most bigint, since double precision,
    probes0 integer[] DEFAULT NULL, probes1 integer[] DEFAULT NULL,
    probes2 integer[] DEFAULT NULL, probes3 integer[] DEFAULT NULL,
    refused text[] DEFAULT NULL,
    OUT outcome text, OUT distance integer, OUT settled boolean, OUT run_name text,
    OUT match page
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    here record;
    best record;
    its_run record;
    after bigint;
    keys0 bigint[];
    keys1 bigint[];
    keys2 bigint[];
    keys3 bigint[];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(page_scope, 20));
    LOOP
        SELECT id, kept, evicted, EXISTS (
            SELECT FROM run WHERE id = page_run AND state = 'live' AND expires > clock_timestamp()
        ) AS live
        INTO here FROM scope WHERE name = page_scope;
        EXIT WHEN FOUND;
        INSERT INTO scope (name) VALUES (page_scope);
    END LOOP;
    IF NOT here.live THEN
        outcome := 'not live';
        RETURN;
    END IF;

    IF radius IS NOT NULL AND here.kept > 0 THEN
        after := CASE WHEN here.kept > most
            THEN first_of_window(here.id, here.evicted, most) - 1 ELSE here.evicted END;
        IF probes0 IS NULL THEN
            keys0 := ARRAY[bucket(here.id, page_fingerprint, 0)];
            keys1 := ARRAY[bucket(here.id, page_fingerprint, 1)];
            keys2 := ARRAY[bucket(here.id, page_fingerprint, 2)];
            keys3 := ARRAY[bucket(here.id, page_fingerprint, 3)];
        ELSE
            keys0 := ARRAY(SELECT (here.id::bigint << 16) | value FROM unnest(probes0) AS value);
            keys1 := ARRAY(SELECT (here.id::bigint << 16) | value FROM unnest(probes1) AS value);
            keys2 := ARRAY(SELECT (here.id::bigint << 16) | value FROM unnest(probes2) AS value);
            keys3 := ARRAY(SELECT (here.id::bigint << 16) | value FROM unnest(probes3) AS value);
        END IF;
        -- Through OFFSET 0 the planner sees no index but those that are named inside.
        FOR best IN
            SELECT id, run, fingerprint, request, durable, settled, distance
            FROM (
                SELECT id, run, fingerprint, request, durable, settled,
                    hamming_distance(fingerprint, page_fingerprint) AS distance
                FROM page
                WHERE (
                    bucket0 = ANY (keys0) OR bucket1 = ANY (keys1)
                    OR bucket2 = ANY (keys2) OR bucket3 = ANY (keys3)
                    OR scope = CASE WHEN scan THEN here.id END
                ) AND pipeline = page_pipeline AND first_seen >= since
                    AND (NOT exact OR digest = page_digest)
                OFFSET 0
            ) AS candidate
            WHERE distance <= greatest(radius, near) AND id > after
            ORDER BY
                distance > radius, distance > radius OR request <> page_request, distance, id DESC
        LOOP
            SELECT name, state, expires INTO its_run FROM run WHERE id = best.run;
            CONTINUE WHEN NOT (best.durable OR counts(its_run.state, its_run.expires))
                OR identity(its_run.name, best.request, best.fingerprint) = ANY (refused);
            distance := best.distance;
            run_name := its_run.name;
            settled := best.settled OR its_run.state = 'ended';
            IF distance <= radius THEN
                outcome := 'found';
                UPDATE page SET last_seen = greatest(last_seen, page_last_seen) WHERE id = best.id
                    RETURNING page.* INTO match;
                RETURN;
            END IF;
            SELECT page.* INTO match FROM page WHERE id = best.id;
            EXIT;
        END LOOP;
    END IF;

    outcome := 'added';
    INSERT INTO page (
        run, fingerprint, digest, bucket0, bucket1, bucket2, bucket3, first_seen, last_seen, words,
        scope, pipeline, settled, request, url, title, sketch
    ) VALUES (
        page_run, page_fingerprint, page_digest, bucket(here.id, page_fingerprint, 0),
        bucket(here.id, page_fingerprint, 1), bucket(here.id, page_fingerprint, 2),
        bucket(here.id, page_fingerprint, 3), page_first_seen, page_last_seen, page_words,
        here.id, page_pipeline, page_settled, page_request, page_url, page_title, page_sketch
    );
    IF here.kept < most AND since = '-infinity' THEN
        UPDATE scope SET kept = kept + 1 WHERE id = here.id;
    ELSE
        PERFORM evict(here.id, here.kept + 1, here.evicted, most, since);
    END IF;
END
$$;

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
