-- Timestamps are of the server's clock; first_seen and last_seen are Unix times of the crawlers.
-- Names of scopes can be longer than a B-tree takes: they are hashed. Runs are 64-bit hashes of
-- their names.

CREATE TABLE run (
    id bigint PRIMARY KEY,
    owner bigint NOT NULL,
    state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'ended', 'dead')),
    begun double precision NOT NULL,
    expires timestamptz NOT NULL
);
CREATE INDEX run_state ON run (state) WHERE state <> 'ended';

CREATE SEQUENCE number;

-- `last` is the number of the page that was added last, `first` of the first one that may be there;
-- `epoch` changes when pages go in any other order.
CREATE TABLE scope (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    last bigint NOT NULL DEFAULT 0,
    first bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL,
    EXCLUDE USING hash (name WITH =)
) WITH (fillfactor = 50);

-- Within a scope, ids are in order of insertion. Fingerprint and digest are the unsigned values read
-- as signed ones. `head` is what crawlers compare, as they pack it; `mark` is 1 once a page is
-- settled, 2 if it counts whatever becomes of its run.
CREATE TABLE page (
    id bigint PRIMARY KEY,
    scope integer NOT NULL,
    run bigint NOT NULL,
    mark smallint NOT NULL,
    head bytea NOT NULL,
    url text COLLATE "C" NOT NULL,
    request text COLLATE "C" NOT NULL,
    fingerprint bigint NOT NULL,
    digest bigint NOT NULL,
    words bigint NOT NULL,
    title text COLLATE "C" NOT NULL,
    pipeline text COLLATE "C" NOT NULL,
    run_name text COLLATE "C" NOT NULL,
    first_seen double precision NOT NULL,
    last_seen double precision NOT NULL,
    sketch bytea NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX page_order ON page (scope, id);
CREATE INDEX page_run ON page (run);

-- What is kept beside pages. An address begins with a hash of kind and scope.
CREATE TABLE blob (
    address bytea PRIMARY KEY,
    kind text NOT NULL,
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    at double precision NOT NULL,
    data bytea NOT NULL
) WITH (fillfactor = 80);
ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX blob_kind ON blob (kind, address);

-- What is new to one who knows a scope in a state; see `News` in driver.py.
CREATE FUNCTION news(known text, known_last bigint, known_epoch bigint)
RETURNS TABLE (last bigint, first bigint, epoch bigint, heads bytea)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT here.last, here.first, here.epoch, (
        SELECT string_agg(int8send(page.id) || page.head, ''::bytea ORDER BY page.id) FROM page
        WHERE page.scope = here.id AND page.id > CASE
            WHEN here.epoch = known_epoch AND here.last >= known_last THEN known_last
            ELSE here.first - 1
        END
    ) FROM scope AS here WHERE here.name = known;
END;

-- Adds a page to a scope whose epoch is known, makes the scope where none is known, and removes all
-- pages up to number `through`, unless others have added pages before: `old`. Each statement sees
-- what those have written for whom an earlier one has waited.
CREATE FUNCTION append(
    known text, known_last bigint, known_epoch bigint, through bigint, new_epoch bigint, added page,
    OUT number bigint, OUT first bigint, OUT epoch bigint, OUT old bytea
)
LANGUAGE plpgsql AS $$
DECLARE
    here integer;
BEGIN
    UPDATE scope SET last = nextval('number')
    WHERE scope.name = known AND scope.epoch = known_epoch
    RETURNING scope.id, scope.last, scope.first, scope.epoch INTO here, number, first, epoch;
    IF here IS NULL AND known_epoch = 0 THEN
        INSERT INTO scope (name, last, epoch) VALUES (known, nextval('number'), new_epoch)
        ON CONFLICT DO NOTHING
        RETURNING scope.id, scope.last, scope.first, scope.epoch INTO here, number, first, epoch;
    END IF;
    IF here IS NULL THEN
        RETURN;
    END IF;
    SELECT string_agg(int8send(page.id) || page.head, ''::bytea ORDER BY page.id) INTO old FROM page
    WHERE page.scope = here AND page.id > known_last;
    added.id := number;
    added.scope := here;
    INSERT INTO page VALUES (added.*);
    IF through > 0 AND old IS NULL THEN
        first := through + 1;
        UPDATE scope SET first = append.first WHERE scope.id = here;
        DELETE FROM page WHERE page.scope = here AND page.id <= through;
    END IF;
END
$$;

CREATE FUNCTION hamming_distance(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count((a # b)::bit(64))::integer;

-- For those who ask in SQL: what is remembered, and counts.
CREATE VIEW kept_page AS
SELECT
    page.id, scope.name AS scope, page.url, page.title, page.words,
    lpad(to_hex(page.fingerprint), 16, '0') AS fingerprint,
    to_timestamp(page.first_seen) AS first_seen, to_timestamp(page.last_seen) AS last_seen,
    page.run_name AS run, coalesce(run.state, 'dead') AS run_state, page.mark > 0 AS settled,
    page.pipeline, page.request
FROM page
JOIN scope ON scope.id = page.scope
LEFT JOIN run ON run.id = page.run
WHERE page.mark = 2 OR run.state = 'ended' OR run.state = 'live' AND run.expires > clock_timestamp();

-- The kept pages of a scope within `radius` bits of a fingerprint of 16 hex digits, nearest first.
CREATE FUNCTION near_duplicates(fingerprint text, scope text, radius integer DEFAULT 3)
RETURNS TABLE (distance integer, url text, title text, words bigint, first_seen timestamptz, pipeline text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT hamming_distance(page.fingerprint, wanted.bits), kept.url, kept.title, kept.words,
        kept.first_seen, kept.pipeline
    FROM kept_page AS kept
    JOIN page ON page.id = kept.id
    CROSS JOIN (SELECT ('x' || near_duplicates.fingerprint)::bit(64)::bigint AS bits) AS wanted
    WHERE kept.scope = near_duplicates.scope
        AND hamming_distance(page.fingerprint, wanted.bits) <= radius
    ORDER BY 1, kept.id DESC;
END;

-- Pairs of kept pages of one scope and pipeline version that are within 8 bits of each other.
CREATE VIEW near_duplicate_pages AS
SELECT
    a.scope, hamming_distance(page_a.fingerprint, page_b.fingerprint) AS distance,
    a.url, b.url AS near_url, a.title, b.title AS near_title,
    a.first_seen, b.first_seen AS near_first_seen
FROM kept_page AS a
JOIN kept_page AS b ON b.scope = a.scope AND b.pipeline = a.pipeline AND b.id <> a.id
JOIN page AS page_a ON page_a.id = a.id
JOIN page AS page_b ON page_b.id = b.id
WHERE hamming_distance(page_a.fingerprint, page_b.fingerprint) <= 8;
