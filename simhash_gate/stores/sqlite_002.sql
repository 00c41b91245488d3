-- 0 until the page is settled, 1 from then on, 2 if it is durable: it outlives its run.
ALTER TABLE record ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
