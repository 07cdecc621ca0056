/** Deleting objects, and waiting for creations and deletions. */
import assert from 'node:assert/strict'
import { configMap, deployment, node, pod } from './manifests.ts'
import { apiPath, make, type Stops } from './stop.ts'

export const deleteStops: Stops = {
  'delete takes names, files, selectors and kinds': async (k, cluster) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    await make(k, cluster, ...names.map((name) => configMap(name, {}, name < 'c' ? { group: 'x' } : {})))
    await k.ok('delete cm e --dry-run=server', 'configmap "e" deleted (server dry run)\n')
    await k.ok('delete cm e', 'configmap "e" deleted\n')
    await k.ok('delete -f -', 'configmap "d" deleted\n', { input: configMap('d', {}) })
    await k.ok('delete cm -l group=x', 'configmap "a" deleted\nconfigmap "b" deleted\n')
    await k.fails('delete cm a', 'Error from server (NotFound): configmaps "a" not found\n')
    await k.ok('delete cm a --ignore-not-found', '')
    await k.ok('delete cm --all -o name', 'configmap/c\n')
    await make(k, cluster, pod('web'), configMap('c', {}))
    await k.ok('delete pod/web configmap/c', 'pod "web" deleted\nconfigmap "c" deleted\n')
    await k.ok('get cm,pods -o name', '')
    await k.ok('create configmap raw')
    assert.equal(JSON.parse(await k.ok(`delete --raw ${apiPath(k, 'v1', 'configmaps/raw')}`)).status, 'Success')
  },

  'delete sends the propagation policy for dependents': async (k, cluster) => {
    for (const [name, cascade] of [
      ['web', 'background'],
      ['web2', 'orphan'],
      ['web3', 'foreground'],
    ] as const) {
      await make(k, cluster, deployment(name))
      await k.ok(`delete deployment ${name} --cascade=${cascade} --wait=false`, `deployment.apps "${name}" deleted\n`)
    }
    await k.ok('get deployment web --ignore-not-found -o name', '')
    // Without a garbage collector the finalizers remain.
    await k.ok(
      'get deployment web2 web3 -o jsonpath={.items[*].metadata.finalizers}',
      '["orphan"] ["foregroundDeletion"]',
    )
    for (const name of ['web2', 'web3'])
      await k.ok(`patch deployment ${name} --type=merge -p '{"metadata":{"finalizers":null}}'`, /patched/)
    await k.ok('get deployments -o name', '')
  },

  'delete observes grace and finalizers': async (k, cluster) => {
    const name = `grace-${k.namespace}`
    await make(k, cluster, node(name))
    const graceful = pod('slow').replace(
      'terminationGracePeriodSeconds: 0',
      `terminationGracePeriodSeconds: 30\n  nodeName: ${name}`,
    )
    await make(k, cluster, graceful)
    await k.ok('delete pod slow --wait=false', 'pod "slow" deleted\n')
    assert.match(await k.ok('get pod slow --no-headers'), /^slow +0\/1 +Terminating /)
    await k.ok('delete pod slow --grace-period=0 --force', 'pod "slow" force deleted\n')
    await k.ok('get pods -o name', '')
    await k.ok('create configmap held')
    await k.ok(`patch cm held --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'`, /patched/)
    await k.fails('delete cm held --timeout=100ms', /timed out waiting for the condition/)
    const { waiting } = await k.watching('delete cm held')
    await cluster.call(
      'PATCH',
      apiPath(k, 'v1', 'configmaps/held'),
      { metadata: { finalizers: null } },
      'application/merge-patch+json',
    )
    await waiting('configmap "held" deleted\n')
    await k.ok(`delete namespace ${k.namespace} --wait=false`, `namespace "${k.namespace}" deleted\n`)
    await k.ok(`get namespace ${k.namespace} -o jsonpath={.status.phase}`, 'Terminating')
    await k.fails('create configmap late', /because it is being terminated/)
  },

  'wait sees deletions and conditions': async (k, cluster) => {
    await make(k, cluster, pod('web'), pod('other'))
    await k.fails(
      'wait pod/web --for=condition=Ready --timeout=100ms',
      /timed out waiting for the condition on pods\/web/,
    )
    const ready = k.ok('wait pod/web --for=condition=Ready --timeout=20s', 'pod/web condition met\n')
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await cluster.call(
      'PATCH',
      apiPath(k, 'v1', 'pods/web/status'),
      { status },
      'application/strategic-merge-patch+json',
    )
    await ready
    if (k.program.minor >= 23)
      await k.ok(`wait pod/web --for=jsonpath={.status.phase}=Running --timeout=20s`, 'pod/web condition met\n')
    await k
      .ok('wait pods --all --for=condition=Ready=True --timeout=20s -l app=nothing', '')
      .catch((error: Error) => assert.match(error.message, /no matching resources found/))
    const { waiting } = await k.watching('wait pod/web --for=delete --timeout=20s')
    await Promise.all(['web', 'other'].map((name) => cluster.call('DELETE', apiPath(k, 'v1', `pods/${name}`))))
    await waiting('pod/web condition met\n')
    await k.fails('wait pod/web --for=condition=Ready --timeout=1s', /pods "web" not found/)
  },
}
