"""https: servers with untrusted certificates get no request. Redirects. Where a key appears."""

import logging
import socket
import ssl
import threading
from contextlib import closing, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
import trustme

from fimlsp.models.loading import load_model
from fimlsp.models.remote import http_client
from fimlsp.models.remote.errors import ServerError

from .conftest import KEY
from .fault_proxy import received
from .listening import listening

AUTHORITY = trustme.CA()


def passing(source, target):
    with suppress(OSError):
        for data in received(source):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def encrypted(upstream, host):
    """https in front of the server at *upstream*, with a certificate for *host*."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert(host).configure_cert(context)
    parts = urlsplit(upstream)

    def serve(client):
        there = parts.hostname, parts.port
        with (
            closing(socket.create_connection(there)) as server,
            closing(context.wrap_socket(client, server_side=True)) as plain,
        ):
            back = threading.Thread(target=passing, args=(server, plain), daemon=True)
            back.start()
            passing(plain, server)
            back.join(5)

    with listening(serve) as (address, _):
        yield f"https://{address}"


@pytest.fixture
def trusts(monkeypatch, tmp_path):
    """The authority of the certificates is named by the environment."""
    file = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    http_client._trusted.cache_clear()
    yield
    http_client._trusted.cache_clear()


@pytest.fixture(autouse=True)
def forgets():
    """No authority of another test is trusted."""
    http_client._trusted.cache_clear()


def test_a_certificate_that_nobody_vouches_for_is_refused(served):
    with (
        encrypted(served("bundled"), "127.0.0.1") as address,
        pytest.raises(ServerError, match=r"Cannot trust the certificate .*SSL_CERT_FILE") as refused,
    ):
        load_model(address)
    assert str(refused.value).count("\n") == 0


@pytest.mark.usefixtures("trusts")
def test_one_whose_authority_is_named_is_accepted(served):
    with encrypted(served("bundled"), "127.0.0.1") as address:
        model = load_model(address)
        assert model.name == "bundled.gguf (llama-server)"
        there, here = (loaded.network.begin([1, 2, 3]) for loaded in (model, load_model(served("bundled"))))
        assert there.tokens[0] == here.tokens[0]


@pytest.mark.usefixtures("trusts")
def test_a_certificate_for_another_host_is_refused(served):
    with (
        encrypted(served("bundled"), "elsewhere.example") as address,
        pytest.raises(ServerError, match="Cannot trust the certificate"),
    ):
        load_model(address)


def test_https_is_not_given_up_where_a_server_does_not_speak_it(served):
    with pytest.raises(ServerError, match=r"Cannot use https .*Write http://"):
        load_model(served("bundled").replace("http:", "https:"))


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else():
    with listening(lambda client: client.recv(1 << 16)) as (elsewhere, asked):

        def redirects(client):
            client.recv(1 << 16)
            head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{elsewhere}/v1/models\r\n"
            client.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())

        refused = pytest.raises(ServerError, match=r"redirects are not followed")
        with listening(redirects) as (address, _), refused:
            load_model(f"http://{address}")
    assert asked == []


def test_the_key_is_sent_and_stands_in_no_log_and_no_message(served, caplog):
    heard = []

    def echoes(client):
        heard.append(client.recv(1 << 16))
        body = b'{"error": {"message": "the key %b is wrong"}}' % KEY.encode()
        client.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    with caplog.at_level(logging.DEBUG), listening(echoes) as (address, _):
        load_model(served("bundled")).network.begin([1, 2, 3])
        with pytest.raises(ServerError, match=r"rejected the key .*FIMLSP_API_KEY") as refused:
            load_model(f"http://{address}")
    assert f"Bearer {KEY}".encode() in heard[0]
    assert KEY not in caplog.text
    assert KEY not in str(refused.value)
    assert KEY not in repr(refused.value.__cause__)
