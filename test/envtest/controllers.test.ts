/** Tests controllers next to the API server of a test suite (`T8S_ENVTEST_CONTROLLERS`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMaps, deployments, namespaces, replicaSets, serviceAccounts } from '../../src/client/kinds.ts'
import { clientFor } from '../support/client-for.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, withoutKubectl } from '../up/t8s-process.ts'
import { assets, freePort, run, startControlPlane } from './control-plane.ts'

for (const [what, given] of [
  ['shared', {}],
  ['own', { T8S_ENVTEST_SHARED: 'false' }],
] as const) {
  test(`deletes namespaces and the dependents of owners in the ${what} process`, {
    skip: withoutKubectl,
  }, async (t) => {
    // Current and former controller names.
    const binaries = assets(t, {
      ...given,
      T8S_ENVTEST_CONTROLLERS: 'namespace,garbage-collector-controller,serviceaccount',
    })
    const plane = reachable(t, await startControlPlane(t, binaries))
    const client = clientFor(t, plane)
    const metadata = (name: string, more: object = {}) => ({ namespace: 'n', name, ...more })
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
    await waitFor('the account', () => client.find(serviceAccounts, 'n', 'default'))
    const owner = await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('owner') })
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' }]
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('owned', { ownerReferences }),
    })
    assert.equal(kubectl(plane.kubeconfigFile, 'delete', 'configmap', 'owner', '-n', 'n').code, 0)
    await waitFor('the deletion of the dependent', async () => !(await client.find(configMaps, 'n', 'owned')))
    // Waits for the deletion.
    const deleted = kubectl(plane.kubeconfigFile, 'delete', 'namespace', 'n', '--timeout=30s')
    assert.equal(deleted.code, 0, deleted.stderr)
    assert.equal(await client.find(namespaces, '', 'n'), undefined)

    // No other controller runs.
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    }
    await client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'd' },
      spec,
    })
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } })
    await waitFor('the account of a later namespace', () => client.find(serviceAccounts, 'later', 'default'))
    assert.deepEqual((await client.list(replicaSets, { namespace: 'default' })).items, [])
    await plane.stop()
  })
}

test('control planes of one process each have their own controllers', async (t) => {
  const binaries = assets(t, { T8S_ENVTEST_CONTROLLERS: 'namespace' })
  const [emptied, kept] = await Promise.all([
    startControlPlane(t, binaries),
    startControlPlane(t, { ...binaries, env: { ...binaries.env, T8S_ENVTEST_CONTROLLERS: '' } }),
  ])
  const clients = [emptied, kept].map((plane) => clientFor(t, plane))
  for (const client of clients) {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
    await client.delete(namespaces, '', 'n')
  }
  const [first, second] = clients
  await waitFor('the deletion of the namespace', async () => !(await first?.find(namespaces, '', 'n')))
  assert.equal((await second?.get(namespaces, '', 'n'))?.status?.phase, 'Terminating')
})

test('an unknown controller is an error', async (t) => {
  const binaries = assets(t, { T8S_ENVTEST_CONTROLLERS: 'garbage' })
  const url = `http://127.0.0.1:${await freePort()}`
  run(
    t,
    binaries,
    'etcd',
    [`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`, '--unsafe-no-fsync=true'],
    binaries.directory,
  )
  const server = run(t, binaries, 'kube-apiserver', [
    `--etcd-servers=${url}`,
    `--secure-port=${await freePort()}`,
    `--cert-dir=${binaries.directory}`,
  ])
  assert.equal((await server.exited).code, 1)
  assert.match(server.output(), /Error: "garbage" is not in the list of known controllers: choose from \*, /)
})
