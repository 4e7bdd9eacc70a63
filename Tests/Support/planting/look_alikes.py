"""Files in which nothing is secret, and much looks so: what a scanner must pass over."""
import base64
import json
import os
import plistlib
import sqlite3
import uuid

from kinds import ALNUM, B64, HEX, URL64, UPPER32, draw, pem


def make(directory, random, megabytes):
    """Each maker in turn until there are so many bytes; every file is about 64 KiB."""
    os.makedirs(directory, exist_ok=True)
    written, index = 0, 0
    makers = list(MAKERS.items())
    while written < megabytes << 20:
        suffix, maker = makers[index % len(makers)]
        path = os.path.join(directory, f"{index:05d}-{suffix}")
        maker(random, path)
        written += os.path.getsize(path)
        index += 1


def text(line, count=700):
    def maker(random, path):
        with open(path, "w") as file:
            for _ in range(count):
                file.write(line(random) + "\n")
    return maker


def identifiers(random):
    return random.choice([
        f"deviceId={uuid.UUID(int=random.getrandbits(128))}",
        f'"sessionUUID": "{uuid.UUID(int=random.getrandbits(128), version=4)}",',
        f"commit {draw(random, HEX, 40)}",
        f"sha256: {draw(random, HEX, 64)}",
        f"etag = \"{draw(random, HEX, 32)}\"",
        f"  md5sum: {draw(random, HEX, 32)}  file{random.randrange(999)}.tar.gz",
        f"build={random.randrange(10**9)}-{draw(random, HEX, 7)}",
        f"traceparent: 00-{draw(random, HEX, 32)}-{draw(random, HEX, 16)}-01",
        f"analyticsId: UA-{random.randrange(10**8)}-1",
        f"ulid 01{draw(random, '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 24)}",
    ])


def lock_file(random):
    name = draw(random, "abcdefghijklmnop", 8)
    return (f'    "node_modules/{name}": {{ "version": "4.{random.randrange(99)}.0", "resolved": '
            f'"https://registry.example.org/{name}/-/{name}-4.0.0.tgz", "integrity": "sha512-{draw(random, B64, 86)}==" }},')


def placeholders(random):
    return random.choice([
        "password=changeme", "password: <your password here>", "API_KEY=${API_KEY}", "token = {{ vault_token }}",
        'apiKey: "YOUR_API_KEY"', "secret=xxxxxxxxxxxxxxxx", "AWS_SECRET_ACCESS_KEY=", 'password: ""', "token: null",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "authToken: '********'",
        "postgres://user:password@localhost/test", "DB_PASSWORD=$(cat /run/secrets/db)", "client_secret: REDACTED",
        'secretKey = "replace-with-your-secret"', "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}", "password = None",
    ])


def source(random):
    return random.choice([
        "let password = passwordField.text ?? \"\"", "self.token = try await client.fetchToken(for: user)",
        "func validate(password: String, secret: Data) throws -> Token {", "guard let apiKey = environment[\"API_KEY\"] else {",
        "    private let tokenizer = Tokenizer(vocabulary: .default)", "password = getpass.getpass(\"Password: \")",
        "const { accessToken, refreshToken } = await refresh(session);", "if (token.type === TokenType.Identifier) {",
        "    secretName: my-application-credentials", "max_tokens: 4096", "// the token expires after 3600 seconds",
        "import { createHmac, randomBytes } from 'crypto';", "tokenEndpoint = https://id.example.com/oauth2/token",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\" autocomplete=\"current-password\">",
        "keychain[\"refreshToken\"] = response.refreshToken", "static let passwordKey = \"com.example.app.password\"",
        "privateKeyPath: /etc/ssl/private/server.key", "CREATE TABLE sessions (token TEXT NOT NULL, password_hash TEXT);",
        "password_reset_url = \"https://example.com/account/reset-password\"", "credential_process = /usr/bin/helper --json",
    ])


def strings(random):
    return random.choice([
        '"Password" = "Passwort";', '"enter.password" = "Geben Sie Ihr Passwort ein";', '"token.expired" = "Sitzung abgelaufen";',
        '"forgot_password" = "Mot de passe oublié ?";', '"secretQuestion" = "Wie hieß Ihr erstes Haustier?";',
        '"api.key.missing" = "Es fehlt ein API-Schlüssel";', '"sign_in_password_hint" = "At least 8 characters";',
    ])


def log_line(random):
    return random.choice([
        f"10:00:00 INFO [{draw(random, HEX, 16)}] GET /v1/accounts/{random.randrange(10**6)} 200 {random.randrange(900)}ms",
        f"10:00:01 DEBUG token refreshed for user {random.randrange(10**6)}", "10:00:02 WARN password check failed for ada",
        f"10:00:03 INFO requestId={uuid.UUID(int=random.getrandbits(128))} session started",
        f"10:00:04 INFO cache key=user:{random.randrange(10**6)}:profile hit", "10:00:05 ERROR invalid credentials: 401 Unauthorized",
        f"10:00:06 INFO uploaded s3://bucket/{draw(random, HEX, 40)}/part-00{random.randrange(9)}",
    ])


def minified(random, path):
    words = ["function", "return", "token", "password", "e.key", "t.secret", "null", "this.auth", "n(e,t)"]
    with open(path, "w") as file:
        while file.tell() < 65536:
            name = draw(random, "abcdefghijklmnopqrstuvwxyz", 2)
            file.write(f"{name}={random.choice(words)};{random.choice(words)}({name},\"{draw(random, ALNUM, 6)}\");")


def pictures(random, path):
    entries = {f"icon{i}": "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.randbytes(1500)).decode()
               for i in range(30)}
    with open(path, "w") as file:
        json.dump(entries, file, indent=1)


def public_keys(random, path):
    with open(path, "w") as file:
        for _ in range(60):
            file.write(pem("CERTIFICATE", b"\x30\x82\x03\x00" + random.randbytes(700)))
            file.write(pem("PUBLIC KEY", b"\x30\x59\x30\x13" + random.randbytes(80)))
            file.write("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + draw(random, B64, 43) + " ada@host\n")


def preferences(random, path):
    values = {f"com.example.option{i}": random.choice([
        str(uuid.UUID(int=random.getrandbits(128))), random.randbytes(24), random.random(), draw(random, HEX, 32), True,
        "https://example.com/terms", {"hash": draw(random, HEX, 40), "passwordLength": 12, "tokenCount": 8},
    ]) for i in range(800)}
    values.update({"passwordManagerEnabled": True, "tokenRefreshInterval": 3600, "keyboardType": "default",
                   "lastSessionDate": "2026-11-21", "secretFeatureUnlocked": False, "authMethod": "password"})
    with open(path, "wb") as file:
        plistlib.dump(values, file, fmt=random.choice([plistlib.FMT_BINARY, plistlib.FMT_XML]))


def database(random, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE files (id INTEGER PRIMARY KEY, sha1 TEXT, etag TEXT, token_count INTEGER, body BLOB)")
    for _ in range(300):
        connection.execute("INSERT INTO files (sha1, etag, token_count, body) VALUES (?, ?, ?, ?)", (
            draw(random, HEX, 40), draw(random, URL64, 22), random.randrange(4096), random.randbytes(100)))
    connection.commit()
    connection.close()


def noise(random, path):
    with open(path, "wb") as file:
        file.write(random.randbytes(65536))


def base32_words(random):
    return f"{draw(random, UPPER32, 16)} {draw(random, UPPER32, 20)} {draw(random, ALNUM, 20)} {draw(random, HEX, 24)}"


MAKERS = {
    "identifiers.txt": text(identifiers), "package-lock.json": text(lock_file, 250), "placeholders.conf": text(placeholders, 1500),
    "source.txt": text(source, 1100), "Localizable.strings": text(strings, 1300), "service.log": text(log_line, 900),
    "bundle.min.js": minified, "pictures.json": pictures, "public.pem": public_keys, "preferences.plist": preferences,
    "files.sqlite": database, "noise.bin": noise, "words.txt": text(base32_words),
}
