"""A search ranks thousands of passages by their words: these lie in the row, not beside it.

PostgreSQL moves the largest columns of a row of more than 2 kB to a table of their own, and
reading one back takes three pages and more. The vector of words stays (MAIN), the text goes where
a row is longer than half a page. For rows that are written from now on; `VACUUM FULL
vault_chunk`, which locks the table, does so for all.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("vault", "0022_code_chunks")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE vault_chunk SET (toast_tuple_target = 4080)",
            "ALTER TABLE vault_chunk RESET (toast_tuple_target)",
        ),
        migrations.RunSQL(
            "ALTER TABLE vault_chunk ALTER COLUMN tsv SET STORAGE MAIN",
            "ALTER TABLE vault_chunk ALTER COLUMN tsv SET STORAGE EXTENDED",
        ),
    ]
