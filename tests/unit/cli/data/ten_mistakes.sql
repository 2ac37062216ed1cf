-- Ten queries, ten different mistakes. The stream has the columns
-- symbol STRING, price DOUBLE, volume BIGINT, happened TIMESTAMP.

-- name: misspelled column
SELECT symbol FROM quotes WHERE prise < 10;

-- name: misspelled stream
SELECT symbol FROM qoutes WHERE price < 10;

-- name: open string
SELECT * FROM quotes
WHERE symbol = 'ACME;

-- name: aggregate
SELECT symbol, count(*) FROM quotes WHERE price > 5;

-- name: bad types
SELECT * FROM quotes WHERE happened > 5;

-- name: no condition
SELECT * FROM quotes WHERE volume;

-- name: unknown function
SELECT * FROM quotes WHERE lowercase(symbol) = 'acme';

-- name: forgotten AND
SELECT * FROM quotes
WHERE price > 5
  volume > 100;

-- name: bad date
SELECT * FROM quotes WHERE happened >= DATE'2026-02-30';

-- name: the clock
SELECT * FROM quotes WHERE happened > current_timestamp() - INTERVAL 5 MINUTES;
