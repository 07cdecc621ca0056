"""The official Python client against a cluster. KUBECONFIG names it; python.test.ts runs this."""

import datetime
import json
import os
import threading
import unittest

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

config.load_kube_config(os.environ["KUBECONFIG"])
core = client.CoreV1Api()
apps = client.AppsV1Api()


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"of": name}), data=data)


class PythonClient(unittest.TestCase):
    def setUp(self):
        self.namespace = self.id().split(".")[-1].replace("_", "-")
        core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.namespace)))

    def refused(self, code, reason, action, *args, **kwargs):
        with self.assertRaises(ApiException) as caught:
            action(*args, **kwargs)
        status = json.loads(caught.exception.body)
        self.assertEqual((code, reason, code), (caught.exception.status, status["reason"], status["code"]))
        return status["message"]

    def test_objects_live_and_die(self):
        made = core.create_namespaced_config_map(self.namespace, config_map("a", x="1"))
        self.assertIsInstance(made.metadata.creation_timestamp, datetime.datetime)
        self.assertEqual(made, core.read_namespaced_config_map("a", self.namespace))
        made.data = {"x": "2"}
        replaced = core.replace_namespaced_config_map("a", self.namespace, made)
        self.assertEqual({"x": "2"}, replaced.data)
        self.assertEqual(["a"], [item.metadata.name for item in core.list_namespaced_config_map(self.namespace, label_selector="of=a").items])
        self.assertEqual("Success", core.delete_namespaced_config_map("a", self.namespace).status)
        self.assertEqual([], core.list_namespaced_config_map(self.namespace).items)

    def test_pods_are_returned_when_deleted(self):
        container = client.V1Container(name="main", image="app:1", resources=client.V1ResourceRequirements(requests={"cpu": "100m"}))
        pod = client.V1Pod(metadata=client.V1ObjectMeta(name="web"), spec=client.V1PodSpec(containers=[container]))
        made = core.create_namespaced_pod(self.namespace, pod)
        self.assertEqual(("Pending", "Burstable", "Always"), (made.status.phase, made.status.qos_class, made.spec.restart_policy))
        self.assertEqual(1, len(core.list_pod_for_all_namespaces(field_selector=f"metadata.namespace={self.namespace},status.phase=Pending").items))
        self.assertEqual("web", core.delete_namespaced_pod("web", self.namespace).metadata.name)

    def test_patches(self):
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
        deployment = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}}
        self.assertEqual(1, apps.create_namespaced_deployment(self.namespace, deployment).spec.replicas)
        # A dict goes as a strategic merge patch, a list as a JSON patch.
        side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}
        patched = apps.patch_namespaced_deployment("web", self.namespace, side)
        self.assertEqual(["side", "main"], [container.name for container in patched.spec.template.spec.containers])
        patched = apps.patch_namespaced_deployment("web", self.namespace, [{"op": "replace", "path": "/spec/replicas", "value": 3}])
        self.assertEqual(3, patched.spec.replicas)
        scale = apps.patch_namespaced_deployment_scale("web", self.namespace, {"spec": {"replicas": 4}})
        self.assertEqual(4, scale.spec.replicas)
        apps.patch_namespaced_deployment_status("web", self.namespace, {"status": {"replicas": 4}})
        self.assertEqual(4, apps.read_namespaced_deployment_scale("web", self.namespace).status.replicas)

    def test_errors(self):
        core.create_namespaced_config_map(self.namespace, config_map("a"))
        self.assertEqual('configmaps "b" not found', self.refused(404, "NotFound", core.read_namespaced_config_map, "b", self.namespace))
        self.assertEqual('configmaps "a" already exists', self.refused(409, "AlreadyExists", core.create_namespaced_config_map, self.namespace, config_map("a")))
        stale = config_map("a")
        stale.metadata.resource_version = "1"
        self.assertIn("the object has been modified", self.refused(409, "Conflict", core.replace_namespaced_config_map, "a", self.namespace, stale))
        self.assertIn('"A_B"', self.refused(422, "Invalid", core.create_namespaced_config_map, self.namespace, config_map("A_B")))
        self.assertIn("unable to parse", self.refused(400, "BadRequest", core.list_namespaced_config_map, self.namespace, label_selector="a in"))

    def test_pages(self):
        for name in "abcde":
            core.create_namespaced_config_map(self.namespace, config_map(name))
        names, token = [], None
        while True:
            page = core.list_namespaced_config_map(self.namespace, limit=2, _continue=token)
            names.append([item.metadata.name for item in page.items])
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual([["a", "b"], ["c", "d"], ["e"]], names)

    def test_watch(self):
        core.create_namespaced_config_map(self.namespace, config_map("a"))
        version = core.list_namespaced_config_map(self.namespace).metadata.resource_version

        def change():
            core.create_namespaced_config_map(self.namespace, config_map("b"))
            core.patch_namespaced_config_map("a", self.namespace, {"data": {"x": "1"}})
            core.delete_namespaced_config_map("b", self.namespace)

        changing = threading.Thread(target=change)
        changing.start()
        events = watch.Watch().stream(core.list_namespaced_config_map, self.namespace, resource_version=version, timeout_seconds=1)
        seen = [(event["type"], event["object"].metadata.name) for event in events]
        changing.join()
        self.assertEqual([("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")], seen)

    def test_dynamic_client_discovers_resources(self):
        # Its cache of discovery goes to a file of its own.
        cache = os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), "python-discovery.json")
        found = dynamic.DynamicClient(client.ApiClient(), cache_file=cache)
        jobs = found.resources.get(api_version="batch/v1", kind="CronJob")
        self.assertEqual(("cronjobs", True), (jobs.name, jobs.namespaced))
        template = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app:1"}]}}}}
        body = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}, "spec": {"schedule": "0 3 * * *", "jobTemplate": template}}
        self.assertEqual("Allow", jobs.create(body=body, namespace=self.namespace).spec.concurrencyPolicy)
        suspended = jobs.patch(name="nightly", namespace=self.namespace, body={"spec": {"suspend": True}}, content_type="application/merge-patch+json")
        self.assertTrue(suspended.spec.suspend)

    def test_manifests_are_created(self):
        objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": self.namespace}} for name in "ab"]
        utils.create_from_dict(client.ApiClient(), {"apiVersion": "v1", "kind": "List", "items": objects})
        self.assertEqual(2, len(core.list_namespaced_config_map(self.namespace).items))

    def test_versions_and_groups(self):
        self.assertEqual("36", client.VersionApi().get_code().minor)
        self.assertIn("apps", [group.name for group in client.ApisApi().get_api_versions().groups])
        self.assertIn("deployments/scale", [resource.name for resource in apps.get_api_resources().resources])


if __name__ == "__main__":
    unittest.main()
