import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../resource.ts'
import { cells, kind, objectOf, prepared } from './core.fixture.ts'
import { resources } from './index.ts'

test('the core group serves its kinds in the order of discovery, with the storage paths of upstream', () => {
  assert.deepEqual(
    resources.map(({ plural }) => plural),
    resources.map(({ plural }) => plural).toSorted(),
  )
  assert.deepEqual(
    resources.filter(({ storagePath }) => storagePath).map(({ plural, storagePath }) => [plural, storagePath]),
    [
      ['endpoints', 'services/endpoints'],
      ['nodes', 'minions'],
      ['replicationcontrollers', 'controllers'],
      ['services', 'services/specs'],
    ],
  )
})

test('table rows match kubectl get', () => {
  const cases: readonly (readonly [string, object, object, readonly Cell[]])[] = [
    ['configmaps', { data: { a: '1' }, binaryData: { b: '' } }, {}, ['x', 2, { since: undefined }]],
    ['secrets', { type: 'Opaque' }, {}, ['x', 'Opaque', 0, { since: undefined }]],
    ['namespaces', { status: { phase: 'Active' } }, {}, ['x', 'Active', { since: undefined }]],
    ['serviceaccounts', { secrets: [{ name: 'a' }] }, {}, ['x', { since: undefined }]],
    [
      'nodes',
      {
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'False' }],
          nodeInfo: { kubeletVersion: 'v1', osImage: 'Linux', kernelVersion: '6.1', architecture: 'arm64' },
          addresses: [{ type: 'InternalIP', address: '192.0.2.4' }],
        },
      },
      { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' } },
      [
        'x',
        'NotReady,SchedulingDisabled',
        'edge,worker',
        { since: undefined },
        'v1',
        '192.0.2.4',
        '<none>',
        'Linux',
        '6.1 (arm64)',
        '<unknown>',
      ],
    ],
    [
      'nodes',
      {},
      {},
      ['x', 'Unknown', '<none>', { since: undefined }, '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
    ],
    [
      'services',
      {
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.0.0.1',
          ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
          selector: { b: '2', a: '1' },
        },
        status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { ip: '203.0.113.10' }, { ip: '203.0.113.9' }] } },
      },
      {},
      ['x', 'LoadBalancer', '10.0.0.1', '203.0.113.10,203.0.113.9', '80:30080/TCP', { since: undefined }, 'a=1,b=2'],
    ],
    [
      'services',
      { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
      {},
      ['x', 'ExternalName', '<none>', 'db.example.com', '<none>', { since: undefined }, '<none>'],
    ],
    [
      'endpoints',
      { subsets: [{ addresses: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }], ports: [{ port: 80 }, { port: 443 }] }] },
      {},
      ['x', '192.0.2.1:80,[2001:db8::1]:80,192.0.2.1:443 + 1 more...', { since: undefined }],
    ],
    ['endpoints', { subsets: [{ notReadyAddresses: [{ ip: '192.0.2.1' }] }] }, {}, ['x', '', { since: undefined }]],
    ['endpoints', {}, {}, ['x', '<none>', { since: undefined }]],
    [
      'persistentvolumeclaims',
      { spec: { volumeName: 'v', storageClassName: 'c', volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
      {},
      ['x', 'Pending', 'v', '0', '', 'c', '<unset>', { since: undefined }, 'Filesystem'],
    ],
    [
      'persistentvolumes',
      {
        spec: {
          capacity: { storage: '10Gi' },
          accessModes: ['ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'n', name: 'c' },
        },
        status: { phase: 'Bound' },
      },
      {},
      ['x', '10Gi', 'RWO,ROX,RWX', 'Retain', 'Bound', 'n/c', '', '<unset>', '', { since: undefined }, '<unset>'],
    ],
    [
      'resourcequotas',
      { status: { hard: { pods: '5', 'limits.cpu': '4', cpu: '1' }, used: { pods: '0', 'limits.cpu': '0' } } },
      {},
      ['x', 'cpu: 0/1, pods: 0/5', 'limits.cpu: 0/4', { since: undefined }],
    ],
    [
      'podtemplates',
      {
        template: {
          metadata: { labels: { b: '2', a: '1' } },
          spec: {
            containers: [
              { name: 'x', image: 'i:1' },
              { name: 'y', image: 'j:1' },
            ],
          },
        },
      },
      {},
      ['x', 'x,y', 'i:1,j:1', 'a=1,b=2'],
    ],
    [
      'events',
      {
        involvedObject: { kind: 'Pod', name: 'p' },
        message: '  m\n',
        source: { component: 'kubelet', host: 'n1' },
        count: 7,
        firstTimestamp: 'F',
        lastTimestamp: 'L',
        type: 'Warning',
        reason: 'R',
      },
      {},
      [{ since: 'L' }, 'Warning', 'R', 'pod/p', '', 'kubelet, n1', 'm', { since: 'F' }, 7, 'x'],
    ],
    [
      'events',
      {
        involvedObject: { kind: 'Node' },
        reportingComponent: 'a',
        reportingInstance: 'a-0',
        eventTime: 'E',
        series: { count: 5, lastObservedTime: 'S' },
      },
      {},
      [{ since: 'S' }, '', '', 'node', '', 'a, a-0', '', { since: 'E' }, 5, 'x'],
    ],
  ]
  for (const [plural, rest, metadata, expected] of cases)
    assert.deepEqual(cells(plural, rest, metadata), expected, plural)
})

test('core kinds get the defaults of upstream', () => {
  assert.deepEqual(prepared('secrets', { data: { a: 'b2xk' }, stringData: { a: 'new', c: 'ü' } }), {
    ...objectOf('secrets'),
    type: 'Opaque',
    data: { a: 'bmV3', c: 'w7w=' },
  })
  assert.deepEqual(prepared('namespaces', { spec: { finalizers: ['example.com/mine'] } }), {
    ...objectOf('namespaces', {}, { labels: { 'kubernetes.io/metadata.name': 'x' } }),
    spec: { finalizers: ['example.com/mine', 'kubernetes'] },
    status: { phase: 'Active' },
  })
  assert.deepEqual(prepared('services', { spec: { ports: [{ port: 80 }] } }).spec, {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  })
  assert.deepEqual(prepared('services', { spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP' } }).spec, {
    type: 'LoadBalancer',
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  })
  assert.deepEqual(prepared('serviceaccounts', { secrets: [{ name: 's', namespace: 'n' }] }).secrets, [{ name: 's' }])
  assert.deepEqual(
    prepared('limitranges', {
      spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '0.1', memory: '1Mi' } }] },
    }).spec,
    {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { cpu: '100m', memory: '1Mi' },
          default: { cpu: '2' },
          defaultRequest: { cpu: '2', memory: '1Mi' },
        },
      ],
    },
  )
  const controller = prepared('replicationcontrollers', {
    spec: { template: { metadata: { labels: { app: 'x' } }, spec: { containers: [] } } },
  })
  assert.deepEqual(
    [controller.metadata.labels, (controller.spec as { selector: object }).selector, controller.status],
    [{ app: 'x' }, { app: 'x' }, { replicas: 0 }],
  )
  assert.deepEqual(prepared('nodes', { status: { capacity: { cpu: '4000m' } } }).status, {
    capacity: { cpu: '4' },
    allocatable: { cpu: '4' },
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: Object.fromEntries(
      [
        'architecture',
        'bootID',
        'containerRuntimeVersion',
        'kernelVersion',
        'kubeProxyVersion',
        'kubeletVersion',
        'machineID',
        'operatingSystem',
        'osImage',
        'systemUUID',
      ].map((field) => [field, '']),
    ),
  })
  assert.deepEqual(
    prepared('persistentvolumeclaims', { spec: { dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } } }).spec,
    {
      dataSource: { kind: 'PersistentVolumeClaim', name: 'c' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'c' },
      volumeMode: 'Filesystem',
      resources: {},
    },
  )
})

test('a namespace with finalizers is retained with the phase Terminating', () => {
  const { deletion } = kind('namespaces')
  const namespace = prepared('namespaces')
  deletion?.begin?.(namespace)
  assert.deepEqual(
    [deletion?.hasFinalizers?.(namespace), (namespace.status as { phase: string }).phase],
    [true, 'Terminating'],
  )
})
