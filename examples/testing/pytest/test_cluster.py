"""Tests with the fixtures of conftest.py: `python3 -m pytest` runs them."""

import pytest
from kubernetes import client
from kubernetes.client.rest import ApiException


def config_map(name):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"at": "0"})


def test_objects_are_stored(cluster, core):
    core.create_namespaced_config_map("default", config_map("a"))
    assert core.read_namespaced_config_map("a", "default").data == {"at": "0"}
    codes = [one["code"] for one in cluster.requests(resource="configmaps", name="a", user="kubernetes-admin")]
    assert codes == [201, 200]


def test_the_next_test_does_not_see_them(core):
    with pytest.raises(ApiException, match="configmaps .* not found"):
        core.read_namespaced_config_map("a", "default")


def test_faults(cluster, core):
    core.create_namespaced_config_map("default", config_map("a"))
    cluster.fault(verb="update", resource="configmaps", code=409)
    with pytest.raises(ApiException, match="the object has been modified"):
        core.replace_namespaced_config_map("a", "default", config_map("a"))
    core.replace_namespaced_config_map("a", "default", config_map("a"))


def test_snapshots(cluster, core):
    core.create_namespaced_config_map("default", config_map("a"))
    snapshot = cluster.snapshot()
    core.delete_namespaced_config_map("a", "default")
    assert cluster.restore(snapshot) == 1
    assert core.read_namespaced_config_map("a", "default").data == {"at": "0"}
