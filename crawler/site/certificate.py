"""A certificate that the site signs itself, for the names it answers to."""

from __future__ import annotations

import ssl
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path


def own_context(host: str) -> ssl.SSLContext:
    """Return what a server needs to speak TLS as a host and its subdomains."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    names = [x509.DNSName(host), x509.DNSName(f"*.{host}")]
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:  # which is private; the module reads files only
        file = Path(folder) / "own.pem"
        file.write_bytes(pem)
        context.load_cert_chain(file)
    return context
