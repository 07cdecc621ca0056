"""What the Python client's dynamic client does with custom resources it learns of by discovery."""
from kubernetes import config, dynamic
from kubernetes.dynamic.exceptions import NotFoundError, UnprocessibleEntityError

client = dynamic.DynamicClient(config.new_client_from_config())
gadgets = client.resources.get(api_version="example.com/v1", kind="Gadget")
assert gadgets.namespaced and gadgets.name == "gadgets"


def gadget(name, n):
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": {"n": n}}


created = gadgets.create(namespace="default", body=gadget("one", 1))
assert created.spec.n == 1 and created.metadata.generation == 1
merge = "application/merge-patch+json"
patched = gadgets.patch(namespace="default", name="one", body={"spec": {"n": 2}}, content_type=merge)
assert patched.spec.n == 2 and patched.metadata.generation == 2
status = gadgets.status.patch(namespace="default", name="one", body={"status": {"n": 3}, "spec": {"n": 9}}, content_type=merge)
assert status.status.n == 3 and status.spec.n == 2
replaced = gadgets.replace(namespace="default", body={**gadget("one", 4), "metadata": {"name": "one", "resourceVersion": status.metadata.resourceVersion}})
assert replaced.spec.n == 4 and replaced.status.n == 3
try:
    gadgets.create(namespace="default", body=gadget("two", "many"))
    raise AssertionError("a text is taken for a number")
except UnprocessibleEntityError:
    pass
for event in gadgets.watch(namespace="default", timeout=5):
    assert event["type"] == "ADDED" and event["object"].metadata.name == "one"
    break
assert [item.metadata.name for item in gadgets.get(namespace="default").items] == ["one"]
gadgets.delete(namespace="default", name="one")
try:
    gadgets.get(namespace="default", name="one")
    raise AssertionError("it is still there")
except NotFoundError:
    pass
