/** The server's own documents: versions, resources, health, documentation. */
import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import type { Stops } from './stop.ts'

export const discoveryStops: Stops = {
  'api-versions lists the served versions': async (k) => {
    const versions = (await k.ok('api-versions')).trim().split('\n')
    for (const version of [
      'apps/v1',
      'batch/v1',
      'autoscaling/v1',
      'autoscaling/v2',
      'policy/v1',
      'rbac.authorization.k8s.io/v1',
      'v1',
    ]) {
      assert.ok(versions.includes(version), `${version} is missing: ${versions}`)
    }
    assert.deepEqual(versions, [...versions].sort())
  },

  'api-resources names resources, short names and kinds': async (k) => {
    const rows = (await k.ok('api-resources --no-headers --api-group apps --sort-by name')).trim().split('\n')
    assert.deepEqual(
      rows.map((row) => row.split(/\s+/).join(' ')),
      [
        'controllerrevisions apps/v1 true ControllerRevision',
        'daemonsets ds apps/v1 true DaemonSet',
        'deployments deploy apps/v1 true Deployment',
        'replicasets rs apps/v1 true ReplicaSet',
        'statefulsets sts apps/v1 true StatefulSet',
      ],
    )
    const names = (await k.ok('api-resources -o name --verbs list,watch --namespaced=false')).split('\n')
    for (const name of [
      'namespaces',
      'nodes',
      'persistentvolumes',
      'clusterroles.rbac.authorization.k8s.io',
      'storageclasses.storage.k8s.io',
    ]) {
      assert.ok(names.includes(name), `${name} is missing`)
    }
    assert.match(
      await k.ok('api-resources -o wide --api-group batch'),
      /jobs +batch\/v1 +true +Job +\[?create[, ]delete[, ]deletecollection[, ]get[, ]list[, ]patch[, ]update[, ]watch/,
    )
  },

  'version shows the server version': async (k) => {
    const { serverVersion } = (await k.json('version')) as { serverVersion: Record<string, string> }
    assert.equal(serverVersion.major, '1')
    assert.equal(serverVersion.minor, '36')
    assert.match(serverVersion.gitVersion ?? '', /^v1\.36\.2\+t8s\./)
  },

  'cluster-info and raw paths answer': async (k, { url }) => {
    assert.equal(
      stripVTControlCharacters(await k.ok('cluster-info')).split('\n')[0],
      `Kubernetes control plane is running at ${url}`,
    )
    await k.ok('get --raw /healthz', 'ok')
    await k.ok('get --raw /readyz', 'ok')
    await k.ok('get --raw /livez?verbose', /^\[\+\]ping ok\n[\s\S]*livez check passed\n$/)
    assert.equal(JSON.parse(await k.ok('get --raw /api/v1/namespaces/default')).metadata.name, 'default')
    await k.fails(
      'get --raw /nowhere',
      /^Error from server \(NotFound\): the server could not find the requested resource\n$/,
    )
  },

  'componentstatuses are listed': async (k) => {
    await k.ok('get cs --no-headers', /^etcd-0 +Healthy +ok/m)
    await k.ok('get cs etcd-0 -o name', 'componentstatus/etcd-0\n')
  },

  'an unknown resource is rejected': async (k) => {
    await k.fails('get nonsense', `error: the server doesn't have a resource type "nonsense"\n`)
    await k.fails('create -f -', /no matches for kind "Nonsense" in version "example\.com\/v1"/, {
      input: '{"apiVersion":"example.com/v1","kind":"Nonsense","metadata":{"name":"x"}}',
    })
  },

  'explain reads the documentation of kinds and nested fields': async (k) => {
    const top = await k.ok('explain deployments')
    assert.match(top, /^(GROUP: +apps\n)?KIND: +Deployment\nVERSION: +(apps\/)?v1\n/)
    assert.match(top, /\n {2,3}spec\t<(Deployment)?(Spec|Object)>/)
    assert.match(
      await k.ok('explain pod.spec.containers.resources.limits'),
      /FIELDS?: +limits <map\[string\](Quantity|string)>/,
    )
    assert.match(await k.ok('explain pods.spec.containers'), /name\t<string> -required-/)
    assert.match(
      await k.ok('explain cm --recursive'),
      /\n +ownerReferences\t<\[\](OwnerReference|Object)>\n +apiVersion\t<string>/,
    )
    assert.match(
      await k.ok('explain hpa.spec.metrics.resource.target --api-version autoscaling/v2'),
      /averageUtilization\t<integer>/,
    )
    assert.match(await k.ok('explain cronjobs.spec.concurrencyPolicy'), /concurrencyPolicy\s+<string>/)
    await k.fails('explain pods.spec.nothing', /field "nothing" does not exist/)
  },
}
