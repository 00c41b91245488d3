-- The age of a page counts from the last visit to its own URL; a match with another URL is no visit.

-- Removes the oldest pages of a scope that has `now_kept` of them, until `most` are left and the
-- oldest was last seen at `since` or later.
CREATE OR REPLACE FUNCTION evict(
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
CREATE OR REPLACE FUNCTION best_match(
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
CREATE OR REPLACE FUNCTION check_and_add(
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
