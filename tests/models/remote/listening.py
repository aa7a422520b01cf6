"""A server of a few lines, on a port of its own."""

import socket
import threading
from contextlib import closing, contextmanager, suppress


@contextmanager
def listening(serve):
    """A port whose connections *serve* gets; `asked` counts them."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        asked = []

        def accept():
            with suppress(OSError):
                while True:
                    client = door.accept()[0]
                    asked.append(client)
                    threading.Thread(target=guarded, args=(client,), daemon=True).start()

        def guarded(client):
            with suppress(OSError), closing(client):
                serve(client)

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield f"127.0.0.1:{door.getsockname()[1]}", asked
        finally:
            # A thread that waits for a closed door may get the visitors of the next one with its number.
            door.shutdown(socket.SHUT_RDWR)
            accepting.join()
