/** Deleted namespaces delete their content and report what remains in conditions. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { waitFor } from '../../support/wait-for.ts'
import { ownedObjects } from '../garbage-collection/owned-objects.ts'
import { sharedCluster } from '../shared-cluster.ts'

interface Namespace {
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
  }
  readonly spec: { readonly finalizers?: readonly string[] }
  readonly status: {
    readonly phase: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[]
  }
}

const root = '/api/v1/namespaces'
const merge = 'application/merge-patch+json'
const podSpec = { containers: [{ name: 'c', image: 'i' }] }

const cluster = sharedCluster()

const create = (name: string, more: object = {}) =>
  cluster().call('POST', root, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...more } })
const get = async (name: string): Promise<Namespace | undefined> => {
  try {
    return (await cluster().call('GET', `${root}/${name}`)) as unknown as Namespace
  } catch (error) {
    if (String(error).includes(' 404 ')) return undefined
    throw error
  }
}
const deletionOf = (name: string) => waitFor(`the namespace ${name} to be deleted`, async () => !(await get(name)))
const conditionOf = (namespace: Namespace | undefined, type: string) =>
  namespace?.status.conditions?.find((condition) => condition.type === type)
const account = (name: string) =>
  waitFor('its account', () => ownedObjects(cluster(), name).get('serviceaccounts', 'default'))

test('pods are deleted first: other kinds remain while one has a finalizer', async () => {
  await create('ordered')
  await account('ordered')
  const { create: make, get: find, patch } = ownedObjects(cluster(), 'ordered')
  await make('pods', 'Pod', 'held', { finalizers: ['example.com/hold'], spec: podSpec })
  await make('configmaps', 'ConfigMap', 'c')
  await cluster().call('DELETE', `${root}/ordered`)
  const stuck = await waitFor('the pod to be reported', async () => {
    const namespace = await get('ordered')
    return conditionOf(namespace, 'NamespaceFinalizersRemaining')?.status === 'True' ? namespace : undefined
  })
  assert.equal(
    conditionOf(stuck, 'NamespaceContentRemaining')?.message,
    'Some resources are remaining: pods. has 1 resource instances',
  )
  assert.ok(await find('configmaps', 'c'))
  await patch('pods', 'held', { finalizers: null })
  await deletionOf('ordered')
})

test('a pod on a node gets its grace period', async () => {
  await create('graceful')
  await account('graceful')
  const { create: make, at } = ownedObjects(cluster(), 'graceful')
  await make('pods', 'Pod', 'p', { spec: { ...podSpec, nodeName: 'far-away' } })
  await cluster().call('DELETE', `${root}/graceful`)
  const waiting = await waitFor('the pod to be reported', async () => {
    const namespace = await get('graceful')
    return conditionOf(namespace, 'NamespaceContentRemaining')?.status === 'True' ? namespace : undefined
  })
  assert.equal(conditionOf(waiting, 'NamespaceDeletionContentFailure')?.status, 'False')
  // As its node would do.
  await cluster().call('DELETE', `${at('pods', 'p')}?gracePeriodSeconds=0`)
  await deletionOf('graceful')
})

test('objects that cannot be deleted are reported until they can', async () => {
  await create('refused')
  await ownedObjects(cluster(), 'refused').create('configmaps', 'ConfigMap', 'c')
  const policies = '/apis/admissionregistration.k8s.io/v1'
  const metadata = { name: 'nothing-goes' }
  await cluster().call('POST', `${policies}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['DELETE'] }],
      },
      validations: [{ expression: 'false', message: 'it stays' }],
    },
  })
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'refused' } } }
  const binding = { policyName: metadata.name, validationActions: ['Deny'], matchResources }
  await cluster().call('POST', `${policies}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: binding,
  })
  const { at } = ownedObjects(cluster(), 'refused')
  await waitFor('the policy to hold', () =>
    cluster()
      .call('DELETE', `${at('configmaps', 'c')}?dryRun=All`)
      .then(
        () => false,
        (error) => String(error).includes('it stays'),
      ),
  )
  await cluster().call('DELETE', `${root}/refused`)
  const failing = await waitFor('the failure to be reported', async () => {
    const namespace = await get('refused')
    return conditionOf(namespace, 'NamespaceDeletionContentFailure')?.status === 'True' ? namespace : undefined
  })
  assert.match(
    conditionOf(failing, 'NamespaceDeletionContentFailure')?.message ?? '',
    /^Failed to delete all resource types, 1 remaining: .*it stays/,
  )
  await cluster().call('DELETE', `${policies}/validatingadmissionpolicybindings/nothing-goes`)
  await deletionOf('refused')
})

test('a namespace with its own finalizers is emptied and remains', async () => {
  await create('own', { finalizers: ['example.com/own'] })
  await cluster().call('DELETE', `${root}/own`)
  const left = await waitFor('its content to be deleted', async () => {
    const namespace = await get('own')
    return namespace && !namespace.spec.finalizers?.length ? namespace : undefined
  })
  assert.deepEqual(
    left.status.conditions?.map(({ status }) => status),
    ['False', 'False', 'False', 'False', 'False'],
  )
  await cluster().call('PATCH', `${root}/own`, { metadata: { finalizers: null } }, merge)
  await deletionOf('own')
})

describe('kubectl delete namespace', { concurrency: 3 }, () => {
  for (const program of installedKubectls()) {
    test(program.version, async () => {
      const name = `kubectl-${program.minor}`
      const kubectl = new Kubectl(program, cluster().kubeconfigFile, cluster().folder, name)
      await kubectl.ok(`create namespace ${name}`)
      await kubectl.ok('create configmap c --from-literal=a=b')
      await kubectl.ok('create deployment d --image=i')
      await kubectl.ok(`delete namespace ${name} --timeout=30s`, new RegExp(`namespace "${name}" deleted`))
      await kubectl.fails(`get namespace ${name}`, /not found/)
    })
  }
})
