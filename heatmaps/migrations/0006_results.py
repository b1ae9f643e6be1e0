from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0005_questions")]

    operations = [
        migrations.AlterField(
            model_name="release",
            name="resolution",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
