from django.db import migrations, models


class Migration(migrations.Migration):
    # Columns with a constant default: no table is rewritten or read.

    dependencies = [
        ("vault", "0007_search_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="chunk",
            name="embedded_shown",
            field=models.IntegerField(
                default=0, help_text="Characters of it, from its start, that the vector covers."
            ),
        ),
        migrations.AddField(
            model_name="note",
            name="links_due",
            field=models.BooleanField(
                default=True,
                help_text="Its links, and what shows it, are still to be looked at.",
            ),
        ),
        migrations.AddField(
            model_name="vault",
            name="links_due",
            field=models.BooleanField(
                default=False,
                help_text="Names of notes changed: every link is still to be looked at.",
            ),
        ),
    ]
