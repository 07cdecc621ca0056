import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { compileDefaults } from '../defaults.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { resources } from './index.ts'
import { keepAllocated } from './service/prepare.ts'
import type { Service } from './service/rules.ts'

const kind = (plural: string): ResourceDefinition =>
  resources.find((one) => one.plural === plural) as ResourceDefinition
const of = (plural: string, rest: object = {}, metadata: object = {}): KubeObject => {
  const { kind: name } = kind(plural)
  return structuredClone({ apiVersion: 'v1', kind: name, metadata: { name: 'x', ...metadata }, ...rest }) as KubeObject
}
/** Returns the object after defaults and preparation. */
const prepared = (plural: string, rest: object = {}, metadata: object = {}): KubeObject & Record<string, unknown> => {
  const { defaults, prepare } = kind(plural)
  const object = of(plural, rest, metadata)
  compileDefaults(defaults ?? [])(object)
  prepare?.create?.(object, { name: 'me', groups: [] })
  return object as KubeObject & Record<string, unknown>
}
const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const validationErrors = (plural: string, rest: object, metadata?: object): string[] =>
  errorMessages(kind(plural).validate?.object?.(prepared(plural, rest, metadata)))
const updateErrors = (plural: string, now: object, before: object): string[] =>
  errorMessages(kind(plural).validate?.update?.(prepared(plural, now), prepared(plural, before)))
const cells = (plural: string, rest: object, metadata?: object): Cell[] =>
  (kind(plural).columns ?? []).map((column) => column.cell(of(plural, rest, metadata)))

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
    ...of('secrets'),
    type: 'Opaque',
    data: { a: 'bmV3', c: 'w7w=' },
  })
  assert.deepEqual(prepared('namespaces', { spec: { finalizers: ['example.com/mine'] } }), {
    ...of('namespaces', {}, { labels: { 'kubernetes.io/metadata.name': 'x' } }),
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

test('invalid objects are rejected with the messages of upstream', () => {
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    [
      'configmaps',
      { data: { k: 'x' }, binaryData: { k: 'AA==' } },
      ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
    ],
    ['configmaps', { data: { a: 'x'.repeat(2 ** 20 + 1) } }, [': Too long: may not be more than 1048576 bytes']],
    ['secrets', { data: { '..': '' } }, [`data[..]: Invalid value: "..": must not be '..'`]],
    ['secrets', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, ['data[tls.key]: Required value']],
    [
      'secrets',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    [
      'secrets',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'namespaces',
      { spec: { finalizers: ['plain'] } },
      ['spec.finalizers: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'],
    ],
    ['services', { spec: {} }, ['spec.ports: Required value']],
    ['services', { spec: { ports: [{ port: 80, name: 'a' }, { port: 81 }] } }, ['spec.ports[1].name: Required value']],
    [
      'services',
      { spec: { type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] } },
      [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
    ],
    [
      'services',
      { spec: { ports: [{ port: 80, nodePort: 30080 }] } },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    ['services', { spec: { type: 'ExternalName' } }, ['spec.externalName: Required value']],
    [
      'nodes',
      { spec: { taints: [{ key: 'a', effect: 'Sometimes' }] } },
      [
        'metadata.taints[0].effect: Unsupported value: "Sometimes": supported values: "NoSchedule", ' +
          '"PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0' } } } },
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'persistentvolumes',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } },
      ['spec: Required value: must specify a volume type'],
    ],
    [
      'persistentvolumes',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, local: { path: '/mnt' } } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
    [
      'limitranges',
      {
        spec: {
          limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '5' }, min: { cpu: '1' }, max: { cpu: '2' } }],
        },
      },
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "5": ratio 5 is greater than max/min = 2.000000'],
    ],
    [
      'resourcequotas',
      { spec: { hard: { nonsense: '1' } } },
      [
        'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
        'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource for quota',
      ],
    ],
    [
      'endpoints',
      { subsets: [{ ports: [{ port: 80 }] }] },
      ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
    ],
    [
      'events',
      { involvedObject: { namespace: 'other' } },
      ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ],
    ['replicationcontrollers', { spec: { selector: { a: 'b' } } }, ['spec.template: Required value']],
    // The decoder sets a required list that is absent to null.
    ['podtemplates', { template: { spec: { containers: null } } }, ['template.spec.containers: Required value']],
    [
      'podtemplates',
      {
        template: {
          spec: {
            containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: '1' }, requests: { toString: '1' } } }],
          },
        },
      },
      [
        'template.spec.containers[0].resources.requests[toString]: Invalid value: "toString": must be a standard ' +
          'resource type or fully qualified',
        'template.spec.containers[0].resources.requests[toString]: Invalid value: "toString": must be a standard ' +
          'resource for containers',
      ],
    ],
  ]
  for (const [plural, rest, expected] of cases) assert.deepEqual(validationErrors(plural, rest), expected, plural)
})

test('immutable fields cannot change', () => {
  const frozen = { immutable: true, data: { a: 'MQ==' } }
  assert.deepEqual(updateErrors('configmaps', { data: { a: '2' } }, frozen), [
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ])
  assert.deepEqual(updateErrors('secrets', { ...frozen, type: 'example.com/t' }, frozen), [
    'type: Invalid value: "example.com/t": field is immutable',
  ])
  assert.deepEqual(updateErrors('nodes', { spec: { podCIDR: '10.1.0.0/24' } }, { spec: {} }), [])
  assert.match(
    updateErrors('nodes', { spec: { providerID: 'b' } }, { spec: { providerID: 'a' } })[0] ?? '',
    /^spec\.providerID: Forbidden/,
  )
})

test('a Service update keeps allocated values and drops fields that its type does not have', () => {
  const update = (spec: object, old: object): object => {
    const service = of('services', { spec, status: { loadBalancer: {} } })
    compileDefaults(kind('services').defaults ?? [])(service)
    keepAllocated(service as Service, of('services', { spec: old }) as Service)
    kind('services').prepare?.update?.(service, of('services', { spec: old }))
    return (service as unknown as { spec: object }).spec
  }
  const port = { port: 80, protocol: 'TCP', targetPort: 80 }
  const old = {
    type: 'NodePort',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ ...port, nodePort: 30080 }],
  }
  assert.deepEqual(
    update({ type: 'NodePort', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ports: [{ port: 80 }] }, old),
    old,
  )
  assert.deepEqual(update({ ...old, type: 'ClusterIP' }, old), {
    type: 'ClusterIP',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [port],
  })
  assert.deepEqual(update({ ...old, type: 'ExternalName', externalName: 'a.example' }, old), {
    type: 'ExternalName',
    externalName: 'a.example',
    sessionAffinity: 'None',
    ports: [port],
  })
  const external = { type: 'ExternalName', externalName: 'a.example', sessionAffinity: 'None' }
  assert.deepEqual(update({ ...external, internalTrafficPolicy: 'Local' }, external), external)
  const made = { metadata: {}, spec: { ...external, internalTrafficPolicy: 'Cluster' } }
  kind('services').prepare?.create?.(made as never, { name: 'x', groups: [] })
  assert.deepEqual(made.spec, external)
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
