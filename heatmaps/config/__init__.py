"""Settings, URLs, WSGI entry and the Celery application."""
