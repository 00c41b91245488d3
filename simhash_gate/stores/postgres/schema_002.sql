-- A check-and-add that starts fewer and simpler statements: most of what a call costs is what each of
-- them sets up anew, above all its expressions.

DROP FUNCTION check_and_add;

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

-- Returns the best match that counts and whose identity is not `refused`: whatever the radius.
-- `probes` are the values to look up in each 16-bit block, instead of the page's own; with `scan` the
-- whole scope is looked through. The window: pages after the id `after`, first seen at `since` or later.
CREATE FUNCTION best_match(
    page_scope integer, page_pipeline integer, page_request text, page_fingerprint bigint,
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
                hamming_distance(fingerprint, page_fingerprint) AS distance
            FROM page
            WHERE (
                bucket0 = ANY (keys0) OR bucket1 = ANY (keys1)
                OR bucket2 = ANY (keys2) OR bucket3 = ANY (keys3)
                OR scope = CASE WHEN scan THEN page_scope END
            ) AND pipeline = page_pipeline AND first_seen >= since
                AND (NOT exact OR digest = page_digest)
            OFFSET 0
        ) AS candidate
        WHERE distance <= greatest(radius, near) AND id > after
        ORDER BY distance > radius, distance > radius OR request <> page_request, distance, id DESC
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
-- The window: the last `most` pages, first seen at `since` or later. For the rest see `best_match`.
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
    rank integer; -- the distance, and 100 for another request, or 200 beyond the radius
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
                CONTINUE WHEN other.pipeline <> page_pipeline OR other.first_seen < since
                    OR other.id <= after OR exact AND other.digest <> page_digest;
                rank := hamming_distance(other.fingerprint, page_fingerprint);
                rank := rank + CASE
                    WHEN rank > radius THEN 200 WHEN other.request <> page_request THEN 100 ELSE 0
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
                here.id, page_pipeline, page_request, page_fingerprint, page_digest, radius, near,
                after, since, exact, scan, probes0, probes1, probes2, probes3, refused
            );
            best_rank := hamming_distance(best.fingerprint, page_fingerprint);
            best_rank := best_rank + CASE WHEN best_rank > radius THEN 200 ELSE 0 END;
            SELECT name, state INTO its_name, its_state FROM run WHERE id = best.run;
        END IF;
        IF best_rank IS NOT NULL THEN
            IF best_rank < 200 AND best.last_seen < page_last_seen THEN
                UPDATE page SET last_seen = page_last_seen WHERE id = best.id;
                best.last_seen := page_last_seen;
            END IF;
            said := ROW(
                best_rank % 100, best_rank >= 200,
                best.settled OR its_state IS NOT DISTINCT FROM 'ended', best.fingerprint,
                best.digest, best.words, best.first_seen, best.last_seen,
                coalesce(its_name, here.run_name), best.url, best.request, best.title, best.sketch
            );
            IF best_rank < 200 THEN
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
