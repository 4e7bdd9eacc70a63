"""Thirty kinds of secret: random values with the form of real ones, and the name that each goes by.

No value stands here: all are drawn, so that nobody can take one of these files for a leak.
"""
import base64
import json
import struct
import zlib

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
UPPER32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


def draw(random, alphabet, count):
    return "".join(random.choice(alphabet) for _ in range(count))


def base62(number, width):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    text = ""
    while number:
        number, digit = divmod(number, 62)
        text = digits[digit] + text
    return text.rjust(width, "0")


def with_checksum(random, prefix):
    """GitHub and npm end their tokens with the CRC-32 of what goes before, in base 62."""
    body = draw(random, ALNUM, 30)
    return prefix + body + base62(zlib.crc32(body.encode()), 6)


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(random):
    header = url64(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    claims = url64(json.dumps({"sub": draw(random, HEX, 12), "exp": 4102444800}).encode())
    return f"{header}.{claims}.{url64(random.randbytes(32))}"


def pem(label, data):
    text = base64.b64encode(data).decode()
    lines = [text[i:i + 64] for i in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def ec_key(random):
    secret = random.randbytes(32)
    curve = bytes.fromhex("a00a06082a8648ce3d030107")
    public = bytes.fromhex("a14403420004") + random.randbytes(64)
    inside = bytes.fromhex("0201010420") + secret + curve + public
    return pem("EC " + "PRIVATE KEY", bytes([0x30, len(inside)]) + inside)


def openssh_key(random):
    def field(data):
        return struct.pack(">I", len(data)) + data
    public = field(b"ssh-ed25519") + field(random.randbytes(32))
    check = random.randbytes(4)
    private = check + check + public + field(random.randbytes(64)) + field(b"ada@host") + b"\1\2\3"
    body = b"openssh-key-v1\0" + field(b"none") + field(b"none") + field(b"") + struct.pack(">I", 1)
    return pem("OPENSSH " + "PRIVATE KEY", body + field(public) + field(private))


def passphrase(random):
    words = ["Kestrel", "orbit", "Maple", "tundra", "Velvet", "quartz", "Harbor", "cinder"]
    return random.choice(words) + draw(random, "!#%*?", 1) + draw(random, "0123456789", 3) + random.choice(words)


def basic(random):
    return "Basic " + base64.b64encode(f"ada:{passphrase(random)}".encode()).decode()


# kind: (name that such a value goes by, how it is drawn, the ids of the rules that may name it; a star ends a prefix)
KINDS = {
    "aws-access-key": ("awsAccessKeyId", lambda r: "AKIA" + draw(r, UPPER32, 16), ["token.aws*"]),
    "aws-secret-key": ("aws_secret_access_key", lambda r: draw(r, B64, 40), ["token.aws*", "field.*"]),
    "github": ("githubToken", lambda r: with_checksum(r, "ghp_"), ["token.github*"]),
    "github-fine": ("github_token", lambda r: f"github_pat_{draw(r, ALNUM, 22)}_{draw(r, ALNUM, 59)}", ["token.github*"]),
    "gitlab": ("gitlabToken", lambda r: "glpat-" + draw(r, URL64[:-2], 20), ["token.gitlab*"]),
    "slack": ("slackBotToken", lambda r: f"xoxb-{draw(r, '123456789', 12)}-{draw(r, '123456789', 12)}-{draw(r, ALNUM, 24)}",
              ["token.slack*"]),
    "slack-hook": ("webhook", lambda r: f"https://hooks.slack.com/services/T{draw(r, UPPER32, 8)}/B{draw(r, UPPER32, 8)}/"
                   + draw(r, ALNUM, 24), ["token.slack*"]),
    "stripe": ("stripeSecretKey", lambda r: "sk_" + "live_" + draw(r, ALNUM, 24), ["token.stripe*"]),
    "google": ("googleApiKey", lambda r: "AIza" + draw(r, URL64, 35), ["token.google*", "token.firebase*"]),
    "google-client": ("clientSecret", lambda r: "GOCSPX-" + draw(r, URL64, 28), ["token.google*"]),
    "twilio": ("twilioApiKey", lambda r: "SK" + draw(r, HEX, 32), ["token.twilio*"]),
    "sendgrid": ("sendgridApiKey", lambda r: f"SG.{draw(r, URL64, 22)}.{draw(r, URL64, 43)}", ["token.sendgrid*"]),
    "npm": ("npmToken", lambda r: with_checksum(r, "npm_"), ["token.npm*"]),
    "pypi": ("pypiToken", lambda r: "pypi-AgEIcHlwaS5vcmc" + draw(r, URL64, 120), ["token.pypi*"]),
    "openai": ("openaiApiKey", lambda r: f"sk-{draw(r, ALNUM, 20)}T3BlbkFJ{draw(r, ALNUM, 20)}", ["token.openai*"]),
    "anthropic": ("anthropicApiKey", lambda r: f"sk-ant-api03-{draw(r, URL64, 93)}AA", ["token.anthropic*"]),
    "hugging-face": ("hfToken", lambda r: "hf_" + draw(r, ALNUM[:52], 34), ["token.hugging*"]),
    "telegram": ("telegramBotToken", lambda r: f"{draw(r, '123456789', 10)}:AA{draw(r, URL64, 33)}", ["token.telegram*"]),
    "digitalocean": ("doToken", lambda r: "dop_v1_" + draw(r, HEX, 64), ["token.digitalocean*"]),
    "shopify": ("shopifyToken", lambda r: "shpat_" + draw(r, HEX, 32), ["token.shopify*"]),
    "jwt": ("idToken", jwt, ["jwt*", "token.jwt*"]),
    "ec-key": ("signingKey", ec_key, ["key.*"]),
    "openssh-key": ("deployKey", openssh_key, ["key.*"]),
    "age-key": ("identity", lambda r: "AGE-SECRET-KEY-1" + draw(r, BECH32, 58), ["key.*", "token.age*"]),
    "password": ("password", passphrase, ["field.*"]),
    "refresh-token": ("refreshToken", lambda r: draw(r, URL64, 43), ["field.*"]),
    "session": ("sessionId", lambda r: draw(r, HEX, 40), ["field.*", "cookie.*"]),
    "api-key": ("api_key", lambda r: draw(r, ALNUM, 32), ["field.*"]),
    "database-url": ("databaseURL", lambda r: f"postgres://ada:{draw(r, ALNUM, 14)}@db.internal:5432/accounts", ["url.*"]),
    "basic-auth": ("Authorization", basic, ["header.*", "field.*"]),
    "azure": ("storageConnection", lambda r: "DefaultEndpointsProtocol=https;AccountName=ada;AccountKey="
              + base64.b64encode(r.randbytes(64)).decode() + ";EndpointSuffix=core.windows.net", ["token.azure*"]),
}
