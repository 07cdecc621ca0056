import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateErrors, validationErrors } from './core.fixture.ts'

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
