"""A server of S3 for tests: moto's, which checks signatures and forgets all when it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import boto3
from botocore.config import Config

from deploy.ports import free_port

START_SECONDS = 60  # an upper limit; a start takes a second
REGION = "eu-central-1"
USER = "archivist"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
}
SETTING_UP = 3  # calls before the server checks signatures


class S3Server:
    """A server process on one port for its whole life, with one bucket and one user.

    With `checks=False` every key may do all, so that a client goes on after a restart.
    """

    def __init__(self, folder, bucket="events", checks=True):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.checks = checks
        self.bucket = bucket
        self.port = free_port()
        self.key = self.secret = "any"
        self._process = None

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self):
        """Return the variables for a client that may do all."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
        }

    def start(self):
        """Start the server, and return when it has the bucket and the user, whose keys are new."""
        command = [sys.executable, "-m", "moto.server", "--port", str(self.port)]
        options = {"INITIAL_NO_AUTH_ACTION_COUNT": str(SETTING_UP)} if self.checks else {}
        with (self.folder / "s3.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **options}
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            assert self._process.poll() is None, (self.folder / "s3.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if self.checks:
            self._make_user()
        place = {"LocationConstraint": REGION}
        self.client("s3").create_bucket(Bucket=self.bucket, CreateBucketConfiguration=place)

    def _make_user(self):
        iam = self.client("iam")
        iam.create_user(UserName=USER)
        keys = iam.create_access_key(UserName=USER)["AccessKey"]
        self.key, self.secret = keys["AccessKeyId"], keys["SecretAccessKey"]
        iam.put_user_policy(UserName=USER, PolicyName="all", PolicyDocument=json.dumps(POLICY))

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionError:
            return False
        return True

    def client(self, service):
        """Return a client of Amazon's library, that may do all."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )

    def pause(self):
        """Send SIGSTOP: connections stay, without answers."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        """Send SIGKILL: all is forgotten."""
        self._process.kill()
        self._process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.kill()
