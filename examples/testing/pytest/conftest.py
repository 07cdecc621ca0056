"""A cluster for all tests, which is as new before each of them.

T8S names the program `t8s`, if it is not in PATH.
"""

import os
import signal
import subprocess
import tempfile

import pytest
from kubernetes import client, config


class Cluster:
    """A cluster of `t8s up --test-control`, and the control of tests over it."""

    def __init__(self, folder):
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        command = [os.environ.get("T8S", "t8s"), "up", "--data-dir", folder, "--secure-port=0", "--test-control"]
        flags = ["--node-type=simulated", "--nodes=1"]
        self._process = subprocess.Popen(command + flags, stdout=subprocess.PIPE, text=True)
        for line in self._process.stdout:
            if line.startswith("kubeconfig"):
                break
        self.api = config.new_client_from_config(self.kubeconfig)
        self._initial = self.snapshot()

    def stop(self):
        self.api.close()
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate()

    def snapshot(self):
        """Remembers all objects, and returns the name of the snapshot."""
        return self._control("POST", "snapshots")["name"]

    def restore(self, name):
        """Brings back the objects of a snapshot, and deletes others."""
        return self._control("POST", f"snapshots/{name}/restore")["changes"]

    def fault(self, **rule):
        """Lets matching requests fail: verb="update", resource="configmaps", code=409, times=2."""
        return self._control("POST", "faults", rule)

    def requests(self, **wanted):
        """Returns the requests that have all these values."""
        found = self._control("GET", "requests")["requests"]
        return [one for one in found if all(one[name] == value for name, value in wanted.items())]

    def reset(self):
        """Makes the cluster as it was at the start."""
        self._control("DELETE", "faults")
        self.restore(self._initial)
        self._control("DELETE", "requests")

    def _control(self, method, path, body=None):
        return self.api.call_api(
            f"/debug/testing/{path}",
            method,
            body=body,
            header_params={"Content-Type": "application/json", "Accept": "application/json"},
            response_type="object",
            _return_http_data_only=True,
        )


@pytest.fixture(scope="session")
def running_cluster():
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder)
        try:
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture
def cluster(running_cluster):
    running_cluster.reset()
    return running_cluster


@pytest.fixture
def core(cluster):
    return client.CoreV1Api(cluster.api)
