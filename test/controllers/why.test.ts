/** `t8s why kept|deleted|namespace` against a running cluster. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { repository } from '../up/t8s-process.ts'
import { ownedObjects, referenceTo } from './garbage-collection/owned-objects.ts'
import { sharedCluster } from './shared-cluster.ts'

const cluster = sharedCluster()
const hold = ['example.com/hold']

async function why(words: string, input = '') {
  const child = spawn(join(repository, 't8s'), ['why', ...words.split(' ')], {
    env: { ...process.env, KUBECONFIG: cluster().kubeconfigFile },
  })
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, stdout, stderr }
}

test('t8s why kept prints the owners of an object, t8s why deleted what blocks its deletion', async () => {
  const { create, delete: remove, when, patch, deletionOf } = ownedObjects(cluster())
  const owner = await create('configmaps', 'ConfigMap', 'owner')
  await create('secrets', 'Secret', 'mine', { owners: [referenceTo(owner)], finalizers: hold })
  assert.deepEqual(await why('kept secret mine'), {
    code: 0,
    stdout: 'Secret default/mine is kept: its owner exists\n  owner ConfigMap owner exists\n',
    stderr: '',
  })
  assert.equal((await why('deleted secret mine')).code, 1)
  await remove('configmaps', 'owner', 'Foreground')
  await when('secrets', 'mine', 'be deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined)
  const waiting = await why('deleted cm owner')
  assert.equal(waiting.code, 0)
  assert.match(
    waiting.stdout,
    /^ConfigMap default\/owner is being deleted since .*\n.*1 of them block it\n {4}Secret default\/mine\n$/,
  )
  assert.match((await why('deleted secrets mine')).stdout, /the finalizer example\.com\/hold blocks its deletion/)
  await patch('secrets', 'mine', { finalizers: null })
  await deletionOf('configmaps', 'owner')
  assert.deepEqual(await why('deleted cm owner'), {
    code: 0,
    stdout: 'there is no ConfigMap default/owner: it was deleted or never existed\n',
    stderr: '',
  })
  assert.match((await why('kept unicorns x')).stderr, /^t8s: the server has no kind "unicorns"/)
})

test('t8s why namespace prints what blocks the deletion and deletes orphaned APIServices', async () => {
  await cluster().call('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'stuck' },
  })
  const { create, patch } = ownedObjects(cluster(), 'stuck')
  assert.equal((await why('namespace stuck')).stdout, 'namespace stuck is not being deleted\n')
  await create('configmaps', 'ConfigMap', 'held', { finalizers: hold })
  const service = { namespace: 'nowhere', name: 'lost', port: 443 }
  await cluster().call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.lost.example.com' },
    spec: {
      group: 'lost.example.com',
      version: 'v1',
      service,
      groupPriorityMinimum: 100,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
    },
  })
  await cluster().call('DELETE', '/api/v1/namespaces/stuck')
  const output = await waitFor('the finalizer and the APIService to be named', async () => {
    const { stdout } = await why('namespace stuck')
    return /1 configmaps remains: held\n/.test(stdout) && /APIService v1\.lost/.test(stdout) ? stdout : undefined
  })
  assert.match(output, /the finalizer example\.com\/hold blocks the deletion of held/)
  assert.match(output, /points to the Service nowhere\/lost, which does not exist/)
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.lost.example.com'
  await why('namespace stuck --fix', 'n\n')
  await cluster().call('GET', path)
  assert.match((await why('namespace stuck --fix', 'y\n')).stdout, /APIService v1\.lost\.example\.com was deleted\n$/)
  await assert.rejects(cluster().call('GET', path), / 404 /)
  await patch('configmaps', 'held', { finalizers: null })
  await waitFor(
    'the namespace to be deleted',
    async () =>
      (await why('namespace stuck')).stderr === 't8s: there is no namespace stuck: it was deleted or never existed\n',
    {
      deadlineMs: 30_000,
    },
  )
})
