"""A shuffler that ends TLS itself."""

import http.client
import ssl

import pytest

from tests.services.programs import found_or_skip
from tests.services.tls import Tls, made_certificate
from tests.shuffler.process import Shuffler, wait_until


@pytest.mark.long
def test_it_speaks_tls_alone(tmp_path):
    found_or_skip(Tls)
    certificate, key = made_certificate(tmp_path)
    context = ssl.create_default_context(cafile=certificate)
    shuffler = Shuffler(tmp_path)

    def answer():
        connection = http.client.HTTPSConnection("127.0.0.1", shuffler.port, context=context, timeout=20)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse()
        except OSError:
            assert shuffler.process.poll() is None, shuffler.output()
            return None
        finally:
            connection.close()

    shuffler.start("--certificate", certificate, "--key", key)
    try:
        wait_until(lambda: answer() is not None, "the server")
        assert answer().status == 200
        assert answer().headers["Strict-Transport-Security"].startswith("max-age=")
        with pytest.raises((OSError, http.client.HTTPException)):
            shuffler.get("/healthz")
    finally:
        shuffler.kill()
    told = shuffler.manage("serve", "--certificate", certificate)
    assert told.returncode == 1
    assert "--certificate and --key go together" in told.stderr
