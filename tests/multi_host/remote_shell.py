"""A remote shell for hosts of tests/support/hosts, in place of ssh: a command there is no descendant of its client, has
another environment, and sees that the client is gone by the end of its standard input alone.

  remote_shell.py serve            on a host
  remote_shell.py <host> <words>   from another host: the words, joined, are a command of its shell"""
import os
import socket
import struct
import subprocess
import sys
import threading

PORT = 2222
OUT, ERR, EXIT = 1, 2, 3


def pump(read, write):
    while text := read():
        write(text)


def serve_one(connection):
    stream = connection.makefile("rb", buffering=0)
    command = stream.readline().decode()
    child = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True, bufsize=0, cwd="/",
                             env={"PATH": "/usr/bin:/bin", "HOME": "/", "MARK_OF_THE_HOST": socket.gethostname()})
    lock = threading.Lock()

    def send(kind, text):
        with lock:
            connection.sendall(struct.pack("<BI", kind, len(text)) + text)

    def to_child():
        try:
            pump(lambda: stream.read(65536), child.stdin.write)
        except OSError:
            pass
        try:
            child.stdin.close()
        except OSError:
            pass

    def from_child(pipe, kind):
        try:
            pump(lambda: pipe.read(65536), lambda text: send(kind, text))
        except OSError:  # the client is gone
            pipe.close()

    threads = [threading.Thread(target=from_child, args=(child.stdout, OUT)),
               threading.Thread(target=from_child, args=(child.stderr, ERR))]
    threading.Thread(target=to_child, daemon=True).start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        send(EXIT, struct.pack("<i", child.wait()))
        connection.close()
    except OSError:
        pass


def serve():
    family = socket.AF_INET6 if os.environ.get("HOSTS_IPV") == "6" else socket.AF_INET
    listener = socket.create_server(("", PORT), family=family)
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve_one, args=(connection,), daemon=True).start()


def run(host, words):
    try:
        connection = socket.create_connection((host, PORT), timeout=10)
    except OSError as error:
        sys.exit(f"remote_shell.py: {host}: {error}")
    connection.settimeout(None)
    connection.sendall(" ".join(words).encode() + b"\n")

    def send_input():
        try:
            pump(lambda: os.read(0, 65536), connection.sendall)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    threading.Thread(target=send_input, daemon=True).start()
    stream = connection.makefile("rb")
    while head := stream.read(5):
        kind, length = struct.unpack("<BI", head)
        text = stream.read(length)
        if kind == EXIT:
            status = struct.unpack("<i", text)[0]
            os._exit(status if status >= 0 else 128 - status)
        while text:
            text = text[os.write(kind, text):]
    os._exit(255)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else run(sys.argv[1], sys.argv[2:])
