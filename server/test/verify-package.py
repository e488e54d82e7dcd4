"""Verifies an evidence package as docs/evidence.md says, independently of the code of Gantry.

Written from that page alone, with the standard library and the command openssl. Prints
{"verified", "faults": [[kind, place], ...], "keyId", "sealedEvents", "events"} as JSON.
"""

import base64
import datetime
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")
HASH = re.compile(r"[0-9a-f]{64}")
FOLDERS = re.compile(r"(originals|copies|certificates)/([0-9a-f]{64})\.[a-z]+")


class Fault(Exception):
    """What ends a stage: a kind and a place."""


class Wrong(Exception):
    """A part of a file is not right."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def utf8(text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Wrong


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def in_folder(work):
    with tempfile.TemporaryDirectory() as folder:
        return work(lambda name: os.path.join(folder, name))


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def key_id(pem):
    """The id of an Ed25519 key in PEM."""

    def work(at):
        write(at("key"), pem)
        said = openssl("pkey", "-pubin", "-in", at("key"), "-noout", "-text_pub")
        der = openssl("pkey", "-pubin", "-in", at("key"), "-outform", "DER")
        if said is None or der is None or not said.upper().startswith(b"ED25519"):
            raise Wrong
        return sha256(der)[:32]

    return in_folder(work)


def is_signed(pem, data, signature):
    def work(at):
        for name, content in (("key", pem), ("data", data), ("signature", signature)):
            write(at(name), content)
        return openssl(
            "pkeyutl", "-verify", "-pubin", "-inkey", at("key"), "-rawin", "-in", at("data"), "-sigfile", at("signature")
        ) is not None

    return len(signature) == 64 and in_folder(work)


# Stage 1: the archive.


def read_archive(data):
    """The files of an archive: name to contents and checksum; and the time of all files."""
    nowhere = Fault("ARCHIVE", None)
    if len(data) > 600_000_000 or len(data) < 22:
        raise nowhere
    signature, _, _, _, count, size, start, _ = struct.unpack("<4s4H2IH", data[-22:])
    if signature != b"PK\x05\x06" or start + size + 22 != len(data) or count > 10_000:
        raise nowhere
    listed = []
    at = start
    for _ in range(count):
        if at + 46 > start + size or data[at : at + 4] != b"PK\x01\x02":
            raise nowhere
        method, time, date, crc, packed, unpacked, length = struct.unpack("<3H3IH", data[at + 10 : at + 30])
        (offset,) = struct.unpack("<I", data[at + 42 : at + 46])
        name = data[at + 46 : min(at + 46 + length, start + size)].decode("latin-1")
        if method != 0 or packed != unpacked:
            raise Fault("ARCHIVE", name)
        listed.append((name, crc, unpacked, offset, time, date))
        at += 46 + length
    if at != start + size:
        raise nowhere
    time, date = (listed[0][4], listed[0][5]) if listed else (0, 0)
    files, seen, headers, end = {}, set(), [], 0
    for name, crc, length, offset, _, _ in listed:
        here = Fault("ARCHIVE", name)
        if not NAME.fullmatch(name) or name.lower() in seen:
            raise here
        seen.add(name.lower())
        encoded = name.encode("latin-1")
        common = struct.pack("<5H3I2H", 20, 0, 0, time, date, crc, length, length, len(encoded), 0)
        local = b"PK\x03\x04" + common + encoded
        if offset != end or offset + len(local) + length > start or data[offset : offset + len(local)] != local:
            raise here
        end = offset + len(local) + length
        files[name] = (data[offset + len(local) : end], crc)
        headers.append(
            b"PK\x01\x02" + struct.pack("<H", 788) + common + struct.pack("<3H2I", 0, 0, 0, 0x81A40000, offset) + encoded
        )
    if end != start:
        raise nowhere
    found = start
    for header, (name, *_) in zip(headers, listed):
        if data[found : found + len(header)] != header:
            raise Fault("ARCHIVE", name)
        found += len(header)
    if data[found:] != struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, size, start, 0):
        raise nowhere
    return files, (time, date)


def archive_time(text):
    at = moment(text)
    return at.hour * 2048 + at.minute * 32 + at.second // 2, (at.year - 1980) * 512 + at.month * 32 + at.day


def moment(text):
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    except (TypeError, ValueError):
        raise Wrong


# What a file says.


def an_object(value):
    if not isinstance(value, dict):
        raise Wrong
    return value


def parse(text):
    try:
        return an_object(json.loads(text))
    except (ValueError, RecursionError):
        raise Wrong


def of_type(kind):
    def get(value, name):
        found = value.get(name)
        if not isinstance(found, kind) or isinstance(found, bool):
            raise Wrong
        return found

    return get


text_of, list_of = of_type(str), of_type(list)


def number_of(value, name):
    found = value.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise Wrong
    return found


def hash_of(value, name):
    found = text_of(value, name)
    if not HASH.fullmatch(found):
        raise Wrong
    return found


# Stage 2: the manifest.


def verify_manifest(files, times):
    faults = []
    if "manifest.json" not in files:
        faults.append(("MANIFEST", "manifest.json"))
    if "manifest.sig" not in files:
        faults.append(("SIGNATURE", "manifest.sig"))
    try:
        pem = files["key.pem"][0]
        own = key_id(pem)
    except (KeyError, Wrong):
        faults.append(("KEY", "key.pem"))
    if faults:
        return faults, None, None
    content = files["manifest.json"][0]
    if not is_signed(pem, content, files["manifest.sig"][0]):
        return [("SIGNATURE", "manifest.json")], None, None
    try:
        manifest = parse(content)
        if manifest.get("format") != "gantry-package/1":
            raise Wrong
        for file in list_of(manifest, "files"):
            an_object(file)
            text_of(file, "name"), text_of(file, "role"), number_of(file, "bytes"), hash_of(file, "sha256")
        text_of(an_object(manifest.get("case")), "number"), text_of(an_object(manifest.get("madeBy")), "name")
        text_of(manifest, "id"), text_of(manifest, "keyId")
        made = archive_time(manifest.get("madeAt"))
    except Wrong:
        return [("MANIFEST", "manifest.json")], None, None
    if manifest["keyId"] != own:
        return [("KEY", "key.pem")], None, None
    if made != times:
        return [("ARCHIVE", None)], None, None
    return [], manifest, own


# Stage 3: the files.

UNLISTED = ["manifest.json", "manifest.sig", "manifest.sha256", "manifest.sha256.sig"]


def verify_files(files, manifest):
    faults = []

    def checksum(name):
        content, crc = files[name]
        if zlib.crc32(content) != crc:
            faults.append(("ARCHIVE", name))

    listed = {file["name"] for file in manifest["files"]}
    for file in manifest["files"]:
        name = file["name"]
        if name not in files:
            faults.append(("MISSING", name))
        elif sha256(files[name][0]) != file["sha256"] or len(files[name][0]) != file["bytes"]:
            faults.append(("CONTENT", name))
        else:
            checksum(name)
    faults += [("EXTRA", name) for name in files if name not in listed | set(UNLISTED)]
    missing = [name for name in UNLISTED[2:] if name not in files]
    faults += [("MISSING", name) for name in missing]
    wrong = set()
    if not missing:
        named = [*manifest["files"], {"name": "manifest.json", "sha256": sha256(files["manifest.json"][0])}]
        expected = "".join(f"{file['sha256']}  {file['name']}\n" for file in named).encode()
        if files["manifest.sha256"][0] != expected:
            faults.append(("SUMS", "manifest.sha256"))
            wrong = set(UNLISTED[2:])
        elif not is_signed(files["key.pem"][0], expected, files["manifest.sha256.sig"][0]):
            faults.append(("SIGNATURE", "manifest.sha256"))
            wrong = set(UNLISTED[2:])
    for name in UNLISTED:
        if name in files and name not in wrong:
            checksum(name)
    if not faults and list(files) != [file["name"] for file in manifest["files"]] + UNLISTED:
        faults.append(("ARCHIVE", None))
    return faults


# Stage 4: what the files say.


def root_along(leaf, index, count, path):
    if count == 1:
        return leaf if index == 0 and not path else None
    if not path or index >= count or count == 0:
        return None
    half = 1
    while half * 2 < count:
        half *= 2
    if index < half:
        left, right = root_along(leaf, index, half, path[:-1]), path[-1]
    else:
        left, right = path[-1], root_along(leaf, index - half, count - half, path[:-1])
    if left is None or right is None:
        return None
    return hashlib.sha256(b"\x01" + left + right).digest()


def leaf_of(text):
    return sha256(b"\x00" + utf8(text))


def read_seal(text):
    seal = parse(text)
    return {
        **{name: number_of(seal, name) for name in ("seq", "count")},
        **{name: text_of(seal, name) for name in ("kind", "keyId")},
        **{name: hash_of(seal, name) for name in ("root", "previous")},
        "hash": sha256(utf8(text)),
    }


class Evidence:
    def __init__(self, files, manifest, expected):
        self.files, self.manifest, self.expected = files, manifest, expected
        self.faults, self.leaves, self.records, self.entries = [], {}, {}, []
        self.sealed = 0

    def attempt(self, kind, place, work):
        try:
            work()
        except Wrong:
            self.faults.append((kind, place))
            return False
        return True

    def said(self, name):
        if name not in self.files:
            raise Wrong
        return parse(self.files[name][0])

    def verify(self):
        self.attempt("SEAL", "seal.json", self.seals)
        self.attempt("EVENT", "events.json", lambda: self.of_kind("EVENT", "events"))
        self.attempt("CERTIFICATE", "certificates.json", lambda: self.of_kind("CERTIFICATE", "certificates"))
        self.attempt("LOG", "log.json", self.log)
        self.belonging()
        self.attempt("CASE", "case.json", self.case)

    def seals(self):
        said = self.said("seal.json")
        keys, seals = {}, {}

        for key in list_of(said, "keys"):
            name = text_of(an_object(key), "id")

            def read_key():
                pem = utf8(text_of(key, "publicKey"))
                if key_id(pem) != name or (self.expected and name not in self.expected):
                    raise Wrong
                keys[name] = pem

            self.attempt("SEAL", f"key {name}", read_key)

        for given in list_of(said, "seals"):
            seq = number_of(an_object(given), "seq")

            def seal():
                text = text_of(given, "text")
                read = read_seal(text)
                if read["seq"] != seq or read["hash"] != hash_of(given, "hash") or read["keyId"] not in keys:
                    raise Wrong
                try:
                    signature = base64.b64decode(text_of(given, "signature"))
                except ValueError:
                    raise Wrong
                if not is_signed(keys[read["keyId"]], utf8(text), signature):
                    raise Wrong
                seals[seq] = read

            self.attempt("SEAL", f"seal {seq}", seal)

        for proof in list_of(said, "proofs"):
            kind, name = text_of(an_object(proof), "kind"), text_of(proof, "id")

            def prove():
                seal, leaf = seals.get(number_of(proof, "seq")), hash_of(proof, "leaf")
                if seal is None or seal["kind"] != kind:
                    raise Wrong
                path = [bytes.fromhex(hash_of({"hash": each}, "hash")) for each in list_of(proof, "path")]
                root = root_along(bytes.fromhex(leaf), number_of(proof, "index"), seal["count"], path)
                if root is None or root.hex() != seal["root"]:
                    raise Wrong
                self.leaves[kind, name] = leaf

            self.attempt("SEAL", f"{kind} {name}", prove)

        for checkpoint in list_of(said, "checkpoints"):
            date = text_of(an_object(checkpoint), "date")

            def follow():
                seq = number_of(checkpoint, "from")
                if seq not in seals:
                    raise Wrong
                before = seals[seq]["hash"]
                for link in list_of(checkpoint, "chain"):
                    seq += 1
                    seal = read_seal(text_of({"link": link}, "link"))
                    if seal["seq"] != seq or seal["previous"] != before:
                        raise Wrong
                    before = seal["hash"]
                    if seq in seals and seals[seq]["hash"] != before:
                        raise Wrong
                if seq != number_of(checkpoint, "seq") or before != hash_of(checkpoint, "hash"):
                    raise Wrong

            self.attempt("CHECKPOINT", date, follow)

    def of_kind(self, kind, name):
        for given in list_of(self.said(f"{name}.json"), name):
            own = text_of(an_object(given), "id")

            def record():
                text = text_of(given, "record")
                read = parse(text)
                if read.get("record") != kind or read.get("id") != own:
                    raise Wrong
                self.records[kind, own] = read
                leaf = self.leaves.get((kind, own))
                if given.get("sealed") is not True:
                    if leaf is not None:
                        raise Wrong
                elif leaf != leaf_of(text):
                    raise Wrong
                elif kind == "EVENT":
                    self.sealed += 1

            self.attempt(kind, own, record)

    def belonging(self):
        added = [entry["details"].get("sha256") for entry in self.entries if entry["action"] == "itemAdded"]
        for file in self.manifest["files"]:
            name, own = file["name"], file["sha256"]
            in_folder_of_hash = FOLDERS.fullmatch(name)
            if in_folder_of_hash and in_folder_of_hash[2] != own:
                self.faults.append(("IMAGE", name))
            if file["role"] == "ORIGINAL" and self.manifest.get("redacted") is True:
                self.faults.append(("IMAGE", name))
            event = file.get("eventId")
            is_image = file["role"] in ("ORIGINAL", "COPY")
            if is_image and not isinstance(event, str) and own not in added:
                self.faults.append(("IMAGE", name))
            if is_image and isinstance(event, str):
                images = self.records.get(("EVENT", event), {}).get("images")
                if not isinstance(images, list) or f"/images/{own}" not in images:
                    self.faults.append(("IMAGE", name))
            if file["role"] == "CERTIFICATE":
                certificate = file.get("certificateId")
                if self.records.get(("CERTIFICATE", certificate), {}).get("sha256") != own:
                    self.faults.append(("CERTIFICATE", certificate if isinstance(certificate, str) else name))

    def log(self):
        said = self.said("log.json")
        before = "0" * 64
        for seq, given in enumerate(list_of(said, "entries"), 1):

            def entry():
                text = text_of(an_object(given), "text")
                read = parse(text)
                own = sha256(utf8(text))
                expected = (self.manifest["case"].get("id"), seq, before, own)
                if (read.get("caseId"), read.get("seq"), read.get("prev"), hash_of(given, "hash")) != expected:
                    raise Wrong
                details = an_object({} if read.get("details") is None else read["details"])
                self.entries.append({**read, "action": text_of(read, "action"), "details": details, "hash": own})

            if not self.attempt("LOG", f"entry {seq}", entry):
                break
            before = self.entries[-1]["hash"]
        sealed = said.get("sealed")
        if sealed is None:
            return
        seq = number_of(an_object(sealed), "seq")

        def last():
            text = text_of(sealed, "record")
            if self.leaves.get(("CASE_LOG", text_of(sealed, "id"))) != leaf_of(text):
                raise Wrong
            record = parse(text)
            known = self.entries[seq - 1]["hash"] if 0 < seq <= len(self.entries) else None
            if record.get("seq") != seq or known is None or record.get("hash") != known:
                raise Wrong

        self.attempt("LOG", f"entry {seq}", last)

    def case(self):
        said, named = self.said("case.json"), self.manifest["case"]
        if any(said.get(name) != named.get(name) for name in ("id", "number", "state")):
            raise Wrong

        def by(name):
            return None if said.get(name) is None else text_of(an_object(said[name]), "id")

        first = last = None
        for entry in self.entries:
            user = entry.get("userId")
            if entry["action"] in ("opened", "unlocked"):
                first = last = None
            elif entry["action"] == "checked":
                first, last = user, None
            elif entry["action"] in ("verified", "decided"):
                last = user
        second = by("decidedBy") or by("secondBy")
        if (by("firstBy"), second) != (first, last):
            raise Wrong
        if said.get("needsSecond") is True and (second is None or first == second):
            raise Wrong


def verify(path, expected):
    result = {"verified": False, "faults": [], "keyId": None, "sealedEvents": 0, "events": 0}
    with open(path, "rb") as file:
        data = file.read()
    try:
        files, times = read_archive(data)
    except Fault as fault:
        return {**result, "faults": [fault.args]}
    faults, manifest, own = verify_manifest(files, times)
    if faults:
        return {**result, "faults": faults}
    result["keyId"] = own
    faults = verify_files(files, manifest)
    if faults:
        return {**result, "faults": faults}
    evidence = Evidence(files, manifest, expected)
    evidence.verify()
    return {
        **result,
        "verified": not evidence.faults and (not expected or own in expected),
        "faults": evidence.faults,
        "sealedEvents": evidence.sealed,
        "events": sum(kind == "EVENT" for kind, _ in evidence.records),
    }


if __name__ == "__main__":
    # verify-package.py <ids of expected keys, separated by commas, or ""> <package>...
    keys = [name for name in sys.argv[1].split(",") if name]
    print(json.dumps([verify(path, keys) for path in sys.argv[2:]]))
