import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  claimsOf,
  configMapsOf,
  type Pod,
  resourceClaimsOf,
  secretsOf,
} from '../../../api/core/pod/references/object-names.ts'
import type { AccessAttributes, SelectorRequirement } from '../authorizer.ts'
import { authorizeNode } from './index.ts'
import { NodeGraph } from './node-graph.ts'
import { volumeEdges } from './volume-references.ts'

interface Asked {
  readonly user?: string
  readonly groups?: readonly string[]
  readonly verb?: string
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: readonly SelectorRequirement[]
}

const attributes = ({
  user = 'system:node:n1',
  groups = ['system:nodes', 'system:authenticated'],
  fieldSelector,
  ...info
}: Asked): AccessAttributes => ({
  user: { name: user, groups },
  info: {
    isResourceRequest: true,
    path: '',
    verb: 'get',
    prefix: 'api',
    group: '',
    version: 'v1',
    namespace: '',
    subresource: '',
    name: '',
    rest: [],
    ...info,
  },
  ...(fieldSelector && { fieldSelector }),
})

function graph(): NodeGraph {
  const made = new NodeGraph()
  made.putPod({
    namespace: 'a',
    name: 'p',
    node: 'n1',
    references: [
      ['secret', 's1'],
      ['configmap', 'c1'],
      ['serviceaccount', 'robot'],
      ['persistentvolumeclaim', 'data'],
      ['resourceclaim', 'gpu'],
    ],
  })
  made.putVolume({ name: 'pv', claim: { namespace: 'a', name: 'data' }, secrets: [{ namespace: 'a', name: 's2' }] })
  made.putOwned('volumeattachment', '', 'va', 'n1')
  made.putOwned('resourceslice', '', 'rs', 'n1')
  return made
}

const decide = (asked: Asked, known = graph()) => {
  const decision = authorizeNode(attributes(asked), () => known)
  assert.ok(!(decision instanceof Promise))
  return decision.verdict === 'allow' ? 'allow' : decision.reason
}

const secrets = { resource: 'secrets', namespace: 'a' }
const unrelated = (node: string): string => `no relationship found between node '${node}' and this object`
const nodeName = (value: string): readonly SelectorRequirement[] => [
  { key: 'spec.nodeName', operator: 'In', values: [value] },
]

describe('permissions of a node', () => {
  const cases: readonly (readonly [string, Asked, string])[] = [
    ['a secret of its pod', { ...secrets, name: 's1' }, 'allow'],
    ['listed by its name', { ...secrets, verb: 'list', name: 's1' }, 'allow'],
    ['watched by its name', { ...secrets, verb: 'watch', name: 's1' }, 'allow'],
    ["a secret of its pod's volume", { ...secrets, name: 's2' }, 'allow'],
    ['another secret', { ...secrets, name: 's3' }, unrelated('n1')],
    ['a secret of that name elsewhere', { ...secrets, namespace: 'b', name: 's1' }, unrelated('n1')],
    ['all secrets', { ...secrets, verb: 'list' }, 'No Object name found'],
    [
      'secrets of all namespaces',
      { resource: 'secrets', verb: 'list' },
      'can only read namespaced object of this type',
    ],
    ['writing a secret', { ...secrets, verb: 'update', name: 's1' }, 'can only read resources of this type'],
    ['a part of a secret', { ...secrets, name: 's1', subresource: 'x' }, 'cannot read subresource'],
    ["another node's secret", { ...secrets, user: 'system:node:n2', name: 's1' }, unrelated('n2')],
    ['a prefix of its name', { ...secrets, user: 'system:node:n', name: 's1' }, unrelated('n')],
    ['an extension of its name', { ...secrets, user: 'system:node:n1.example', name: 's1' }, unrelated('n1.example')],
    ['its name in another case', { ...secrets, user: 'system:node:N1', name: 's1' }, unrelated('N1')],
    ['the name without the group', { ...secrets, groups: ['system:authenticated'], name: 's1' }, ''],
    ['the group without the name', { ...secrets, user: 'kubelet', name: 's1' }, ''],
    ['a node without a name', { ...secrets, user: 'system:node:', name: 's1' }, 'unknown node for user "system:node:"'],
    ['a config map', { resource: 'configmaps', namespace: 'a', name: 'c1' }, 'allow'],
    ['its claim', { resource: 'persistentvolumeclaims', namespace: 'a', name: 'data' }, 'allow'],
    [
      'its status',
      { resource: 'persistentvolumeclaims', namespace: 'a', name: 'data', verb: 'patch', subresource: 'status' },
      'allow',
    ],
    [
      'listing claims',
      { resource: 'persistentvolumeclaims', namespace: 'a', verb: 'list' },
      'can only get individual resources of this type',
    ],
    ['its volume', { resource: 'persistentvolumes', name: 'pv' }, 'allow'],
    ['another volume', { resource: 'persistentvolumes', name: 'pv2' }, unrelated('n1')],
    [
      'its resource claim',
      { group: 'resource.k8s.io', resource: 'resourceclaims', namespace: 'a', name: 'gpu' },
      'allow',
    ],
    ['its attachment', { group: 'storage.k8s.io', resource: 'volumeattachments', name: 'va' }, 'allow'],
    [
      "another's attachment",
      { group: 'storage.k8s.io', resource: 'volumeattachments', name: 'va', user: 'system:node:n2' },
      unrelated('n2'),
    ],
    [
      'a token',
      { resource: 'serviceaccounts', subresource: 'token', verb: 'create', namespace: 'a', name: 'robot' },
      'allow',
    ],
    [
      'a token of another account',
      { resource: 'serviceaccounts', subresource: 'token', verb: 'create', namespace: 'a', name: 'default' },
      unrelated('n1'),
    ],
    ['an account of its pod', { resource: 'serviceaccounts', namespace: 'a', name: 'robot' }, 'allow'],
    [
      'making an account',
      { resource: 'serviceaccounts', verb: 'create', namespace: 'a' },
      'can only create tokens for individual service accounts',
    ],
    ['itself', { resource: 'nodes', name: 'n1' }, 'allow'],
    ['another node', { resource: 'nodes', name: 'n2' }, "node 'n1' cannot read 'n2', only its own Node object"],
    ['all nodes', { resource: 'nodes', verb: 'list' }, "node 'n1' cannot read all nodes, only its own Node object"],
    ['deleting itself', { resource: 'nodes', verb: 'delete', name: 'n1' }, ''],
    ['its pods', { resource: 'pods', verb: 'list', fieldSelector: nodeName('n1') }, 'allow'],
    [
      "another's pods",
      { resource: 'pods', verb: 'list', fieldSelector: nodeName('n2') },
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['all pods', { resource: 'pods', verb: 'watch' }, 'can only list/watch pods with spec.nodeName field selector'],
    [
      'pods that are not its own',
      { resource: 'pods', verb: 'list', fieldSelector: [{ ...nodeName('n1')[0]!, operator: 'NotIn' }] },
      'can only list/watch pods with spec.nodeName field selector',
    ],
    ['its pod', { resource: 'pods', namespace: 'a', name: 'p' }, 'allow'],
    ['a pod of another', { resource: 'pods', namespace: 'a', name: 'q' }, unrelated('n1')],
    ['changing a pod', { resource: 'pods', verb: 'patch', namespace: 'a', name: 'p' }, ''],
    [
      'its lease',
      { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', namespace: 'kube-node-lease', name: 'n1' },
      'allow',
    ],
    [
      "another's lease",
      { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'n2' },
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'a lease elsewhere',
      { group: 'coordination.k8s.io', resource: 'leases', namespace: 'a', name: 'n1' },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    ['its CSINode', { group: 'storage.k8s.io', resource: 'csinodes', verb: 'delete', name: 'n1' }, 'allow'],
    [
      "another's CSINode",
      { group: 'storage.k8s.io', resource: 'csinodes', name: 'n2' },
      'can only access CSINode with the same name as the requesting node',
    ],
    ['its slice', { group: 'resource.k8s.io', resource: 'resourceslices', verb: 'delete', name: 'rs' }, 'allow'],
    [
      'all slices',
      { group: 'resource.k8s.io', resource: 'resourceslices', verb: 'list' },
      'can only list/watch/deletecollection resourceslices with nodeName field selector',
    ],
    ['services', { resource: 'services', verb: 'list' }, 'allow'],
    ['certificates', { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create' }, 'allow'],
    [
      'approving certificates',
      {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        subresource: 'approval',
        verb: 'update',
        name: 'x',
      },
      '',
    ],
    ['deployments', { group: 'apps', resource: 'deployments', verb: 'list' }, ''],
    [
      'a resource of that name in another group',
      { group: 'example.com', resource: 'secrets', namespace: 'a', name: 's1' },
      '',
    ],
  ]
  for (const [title, asked, expected] of cases) test(title, () => assert.equal(decide(asked), expected))
})

describe('the graph', () => {
  test('a secret remains readable until the node’s last pod that refers to it is deleted', () => {
    const known = graph()
    known.putPod({
      namespace: 'a',
      name: 'q',
      node: 'n1',
      references: [
        ['secret', 's1'],
        ['secret', 's1'],
      ],
    })
    known.deletePod('a', 'p')
    assert.ok(known.refers('n1', 'secret', 'a', 's1'))
    assert.ok(!known.refers('n1', 'configmap', 'a', 'c1'))
    assert.ok(!known.refersToVolume('n1', 'pv'), 'the claim has no pod any more')
    known.deletePod('a', 'q')
    assert.ok(!known.refers('n1', 'secret', 'a', 's1'))
  })

  test('a pod that moves to another node moves its permissions', () => {
    const known = graph()
    known.putPod({ namespace: 'a', name: 'p', node: 'n2', references: [['secret', 's1']] })
    assert.ok(!known.refers('n1', 'secret', 'a', 's1'))
    assert.ok(known.refers('n2', 'secret', 'a', 's1'))
  })

  test('a secret of pods and volumes is accessible until the last reference is removed', () => {
    const known = graph()
    known.putPod({
      namespace: 'a',
      name: 'q',
      node: 'n1',
      references: [
        ['secret', 's2'],
        ['persistentvolumeclaim', 'data'],
      ],
    })
    known.deleteVolume('pv')
    assert.ok(known.refers('n1', 'secret', 'a', 's2'), 'directly')
    known.putVolume({ name: 'pv', claim: { namespace: 'a', name: 'data' }, secrets: [{ namespace: 'a', name: 's2' }] })
    known.deletePod('a', 'q')
    assert.ok(known.refers('n1', 'secret', 'a', 's2'), "by the other pod's volume")
    known.deletePod('a', 'p')
    assert.ok(!known.refers('n1', 'secret', 'a', 's2'))
    known.putPod({ namespace: 'a', name: 'late', node: 'n2', references: [['persistentvolumeclaim', 'data']] })
    assert.ok(known.refers('n2', 'secret', 'a', 's2'), 'the volume was there before the pod')
  })

  test('a volume’s secrets follow the volume and its claim', () => {
    const known = graph()
    known.putVolume({ name: 'pv', claim: { namespace: 'a', name: 'other' }, secrets: [{ namespace: 'a', name: 's2' }] })
    assert.ok(!known.refers('n1', 'secret', 'a', 's2'))
    known.putVolume({ name: 'pv', claim: { namespace: 'a', name: 'data' }, secrets: [] })
    assert.ok(!known.refers('n1', 'secret', 'a', 's2'))
    assert.ok(known.refersToVolume('n1', 'pv'))
  })
})

test('all references of a pod are found', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: {
      imagePullSecrets: [{ name: 'pull' }],
      initContainers: [{ name: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'init', key: 'k' } } }] }],
      containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'map' } }] }],
      ephemeralContainers: [
        { name: 'e', env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'key', key: 'k' } } }] },
      ],
      volumes: [
        { name: 'a', secret: { secretName: 'volume' } },
        {
          name: 'b',
          projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] },
        },
        { name: 'c', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
        { name: 'd', persistentVolumeClaim: { claimName: 'claim' } },
        { name: 'e', ephemeral: { volumeClaimTemplate: {} } },
      ],
      resourceClaims: [
        { name: 'x', resourceClaimName: 'named' },
        { name: 'y', resourceClaimTemplateName: 't' },
        { name: 'z', resourceClaimTemplateName: 't' },
      ],
    },
    status: {
      resourceClaimStatuses: [{ name: 'y', resourceClaimName: 'made' }],
      extendedResourceClaimStatus: { resourceClaimName: 'extended' },
    },
  } as unknown as Pod
  assert.deepEqual(secretsOf(pod), ['pull', 'init', 'from', 'volume', 'projected', 'csi'])
  assert.deepEqual(configMapsOf(pod), ['map', 'key', 'projected'])
  assert.deepEqual(claimsOf(pod), ['claim', 'p-e'])
  assert.deepEqual(resourceClaimsOf(pod), ['named', 'made', 'extended'])
})

test('only the node secrets of a volume count, by default in the claim’s namespace', () => {
  const volume = (spec: object) =>
    volumeEdges({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv' }, spec })
  assert.equal(volume({ csi: { driver: 'd', nodeStageSecretRef: { name: 's' } } }), undefined)
  const claimRef = { namespace: 'a', name: 'data' }
  const references = {
    nodeStageSecretRef: { name: 's' },
    nodePublishSecretRef: { name: 't', namespace: 'b' },
    controllerPublishSecretRef: { name: 'u', namespace: 'a' },
  }
  assert.deepEqual(volume({ claimRef, csi: { driver: 'd', volumeHandle: 'h', ...references } })?.secrets, [
    { namespace: 'b', name: 't' },
    { namespace: 'a', name: 's' },
  ])
})
