"""A server of S3 for tests: moto's, with users and signatures checked; it forgets all when it ends."""

import json
import os
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
SETTING_UP = 3  # calls before the server checks who calls


class S3Server:
    """A server process on one port for its whole life, with one user and one bucket."""

    def __init__(self, folder, bucket="events"):
        self.folder = folder
        self.bucket = bucket
        self.port = free_port()
        self.key = self.secret = None
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
        """Start the server, and return when it has the bucket and, with new keys, the user."""
        command = [sys.executable, "-m", "moto.server", "--port", str(self.port)]
        options = {"INITIAL_NO_AUTH_ACTION_COUNT": str(SETTING_UP)}
        with (self.folder / "s3.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **options}
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            assert self._process.poll() is None, (self.folder / "s3.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        iam = self.client("iam", "any", "key")
        iam.create_user(UserName=USER)
        keys = iam.create_access_key(UserName=USER)["AccessKey"]
        self.key, self.secret = keys["AccessKeyId"], keys["SecretAccessKey"]
        iam.put_user_policy(UserName=USER, PolicyName="all", PolicyDocument=json.dumps(POLICY))
        place = {"LocationConstraint": REGION}
        self.s3().create_bucket(Bucket=self.bucket, CreateBucketConfiguration=place)

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except ConnectionError:
            return False
        return True

    def client(self, service, key, secret):
        """Return a client of Amazon's library."""
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
        )

    def s3(self):
        """Return a client for the objects, that may do all."""
        return self.client("s3", self.key, self.secret)

    def kill(self):
        """Send SIGKILL: all is forgotten."""
        self._process.kill()
        self._process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.kill()
