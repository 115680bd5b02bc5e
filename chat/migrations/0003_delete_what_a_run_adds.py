"""The rows a run adds while it writes go with what they belong to, in the database itself.

Django collects the rows to delete before it deletes them; a row that a run adds in between
would make the deletion of its conversation, or of its owner, fail.
"""

from django.db import migrations

REPLACE = """
DO $$
DECLARE name text;
BEGIN
    SELECT conname INTO STRICT name FROM pg_constraint
    WHERE contype = 'f' AND conrelid = '{table}'::regclass AND confrelid = '{target}'::regclass;
    EXECUTE format('ALTER TABLE {table} DROP CONSTRAINT %I', name);
    EXECUTE format(
        'ALTER TABLE {table} ADD CONSTRAINT %I FOREIGN KEY ({column}) REFERENCES {target} (id) '
        '{action} DEFERRABLE INITIALLY DEFERRED', name
    );
END $$
"""


def replace(table, column, target):
    place = {"table": table, "column": column, "target": target}
    return migrations.RunSQL(
        REPLACE.format(**place, action="ON DELETE CASCADE"),
        REPLACE.format(**place, action=""),
    )


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_append_seconds_of_a_run")]

    operations = [
        replace("chat_runevent", "run_id", "chat_run"),
        replace("chat_source", "message_id", "chat_message"),
    ]
