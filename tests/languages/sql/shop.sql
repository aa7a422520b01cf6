CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email VARCHAR(80) UNIQUE,
    city TEXT,
    is_active BOOLEAN DEFAULT 1,
    joined_on DATE
);

CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    name TEXT,
    price DECIMAL(10, 2),
    code INTEGER,
    picture BLOB
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),
    ordered_on TIMESTAMP,
    code TEXT
);

CREATE TABLE "order" (
    order_id INTEGER REFERENCES orders (id),
    product_id INTEGER REFERENCES products (id),
    quantity INTEGER,
    "unit price" REAL,
    PRIMARY KEY (order_id, product_id)
);

CREATE TABLE notes (note, "key" ANY);

CREATE VIEW totals AS
SELECT o.customer_id, sum(l.quantity * l."unit price") AS total
FROM orders AS o JOIN "order" AS l ON l.order_id = o.id
GROUP BY o.customer_id;
