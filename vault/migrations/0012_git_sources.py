from django.core.validators import RegexValidator
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("vault", "0011_lexemes_by_vault"),
    ]

    operations = [
        migrations.AlterField(
            model_name="vault",
            name="source_kind",
            field=models.CharField(
                choices=[
                    ("folder", "folder on this server"),
                    ("upload", "uploaded zip archive"),
                    ("git", "git repository"),
                ],
                default="folder",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="vault",
            name="place",
            field=models.CharField(
                help_text="Absolute path of the folder, or the https address of the repository.",
                max_length=1000,
            ),
        ),
        migrations.AddField(
            model_name="vault",
            name="git_branch",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Of a git repository; empty: its default branch.",
                max_length=250,
                verbose_name="branch",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="vault",
            name="token_variable",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Environment variable that holds the token of a private repository, such as GIT_TOKEN_DOCS; its value is never stored or shown.",
                max_length=100,
                validators=[
                    RegexValidator("^GIT_TOKEN[A-Z0-9_]*$", "Names begin with GIT_TOKEN.")
                ],
            ),
            preserve_default=False,
        ),
    ]
