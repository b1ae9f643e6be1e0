-- Runs once, as the superuser, when the image of PostgreSQL makes the cluster: `hazemap` will own the tables and make
-- the roles of the others, and is no superuser.
\set password `cat /run/secrets/postgres_password`
CREATE ROLE hazemap LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE hazemap OWNER TO hazemap;
