import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject, Unstructured } from '../machinery/object.ts'
import { compileDefaults } from './defaults.ts'
import { fromCore, toCore } from './events/event.ts'
import { resourceRegistry } from './registry.ts'
import type { ResourceDefinition } from './resource.ts'

const registry = resourceRegistry({ runtimeConfig: 'api/all=true' })
const find = (key: string): ResourceDefinition => {
  const [group = '', version = '', plural = ''] = key.split('/')
  return registry.find(group, version, plural) ?? assert.fail(key)
}
const created = (key: string, fields: Record<string, unknown>, name = 'x'): Unstructured => {
  const definition = find(key)
  const object: Unstructured = {
    apiVersion: `${definition.group}/${definition.version}`,
    kind: definition.kind,
    metadata: { name },
    ...structuredClone(fields),
  }
  compileDefaults(definition.defaults ?? [])(object)
  definition.prepare?.create?.(object, { name: 'tester', groups: [] })
  return object
}
const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`.replace(/ \(e\.g\. .*/, ''))
const validationErrors = (key: string, fields: Record<string, unknown>, name?: string): string[] =>
  errorMessages(find(key).validate?.object?.(created(key, fields, name)))

test('each kind rejects invalid objects with the messages of upstream', () => {
  const rules = [{ host: '10.1.2.3', http: { paths: [{ path: 'relative', pathType: 'Prefix', backend: {} }] } }]
  const peer = { ipBlock: { cidr: '10.1.0.0/16', except: ['10.2.0.0/24'] } }
  const hook = {
    name: 'short',
    clientConfig: { url: 'http://a' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/*', 'pods/status'] }],
  }
  const cases: [string, Record<string, unknown>, string[]][] = [
    [
      'networking.k8s.io/v1/ingresses',
      { spec: { rules } },
      [
        'spec.rules[0].host: Invalid value: "10.1.2.3": must be a DNS name, not an IP address',
        'spec.rules[0].http.paths[0].path: Invalid value: "relative": must be an absolute path',
        'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
      ],
    ],
    [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { ingress: [{ from: [peer, {}] }] } },
      [
        'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.2.0.0/24": must be a strict subset of `cidr`',
        'spec.ingress[0].from[1]: Required value: must specify a peer',
      ],
    ],
    [
      'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      { webhooks: [hook] },
      [
        'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
        'webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if \'pods/*\' is present, must not ' +
          'specify pods/status',
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired ' +
          'format: https://host[/path]',
      ],
    ],
    [
      'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      {
        webhooks: [
          {
            ...hook,
            name: 'a.b.c',
            rules: [],
            clientConfig: { service: { name: 's' } },
            admissionReviewVersions: ['v9'],
          },
        ],
      },
      [
        'webhooks[0].clientConfig.service.name: Required value',
        'webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'rbac.authorization.k8s.io/v1/roles',
      { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
      ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
    ],
    [
      'rbac.authorization.k8s.io/v1/clusterrolebindings',
      { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
      [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        'subjects[0].namespace: Required value',
      ],
    ],
    [
      'scheduling.k8s.io/v1/priorityclasses',
      { value: 1000000001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'coordination.k8s.io/v1/leases',
      { spec: { leaseDurationSeconds: 0 } },
      ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
    [
      'discovery.k8s.io/v1/endpointslices',
      { addressType: 'IPv4', endpoints: [{ addresses: ['127.0.0.1'] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ' +
          '::1/128)',
      ],
    ],
    [
      'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
      { spec: { type: 'Limited' } },
      ['spec.limited: Required value: must not be empty when type is Limited'],
    ],
    [
      'storage.k8s.io/v1/storageclasses',
      { parameters: { '': 'x' } },
      ['provisioner: Required value', 'parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'node.k8s.io/v1/runtimeclasses',
      { handler: 'a', overhead: { podFixed: { cpu: '-1' } } },
      ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'resource.k8s.io/v1beta1/resourceclaims',
      { spec: { devices: { requests: [{ name: 'a', allocationMode: 'All' }] } } },
      ['spec.devices.requests[0].exactly.deviceClassName: Required value'],
    ],
    [
      'apiregistration.k8s.io/v1/apiservices',
      { spec: { group: 'g.io', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 } },
      ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`'],
    ],
  ]
  for (const [key, fields, expected] of cases) assert.deepEqual(validationErrors(key, fields), expected, key)
})

test('each kind fills in its defaults', () => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
    [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { egress: [{}] } },
      { spec: { egress: [{}], podSelector: {}, policyTypes: ['Ingress', 'Egress'] } },
    ],
    ['storage.k8s.io/v1/storageclasses', {}, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
    [
      'rbac.authorization.k8s.io/v1/rolebindings',
      { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'u' }],
      },
    ],
    [
      'discovery.k8s.io/v1/endpointslices',
      { ports: [{}] },
      { endpoints: null, ports: [{ name: '', protocol: 'TCP' }] },
    ],
    ['rbac.authorization.k8s.io/v1/roles', { rules: [] }, { rules: null }],
    [
      'resource.k8s.io/v1beta1/resourceclaims',
      { spec: { devices: { requests: [{ name: 'a', deviceClassName: 'c' }] } } },
      {
        spec: { devices: { requests: [{ name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }] } },
        status: {},
      },
    ],
    [
      'apiextensions.k8s.io/v1/customresourcedefinitions',
      { spec: { names: { plural: 'gears', kind: 'Gear' }, versions: [{ name: 'v1', storage: true }] } },
      {
        spec: {
          names: { plural: 'gears', kind: 'Gear', singular: 'gear', listKind: 'GearList' },
          versions: [{ name: 'v1', storage: true }],
          conversion: { strategy: 'None' },
        },
        status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
      },
    ],
  ]
  for (const [key, fields, expected] of cases) {
    const { apiVersion, kind, metadata, ...rest } = created(key, fields)
    assert.deepEqual(rest, expected, key)
  }
})

test('a PodCertificateRequest keeps its condition, and gets a lastTransitionTime for a new one', () => {
  const prepare = find('certificates.k8s.io/v1beta1/podcertificaterequests').prepare?.status ?? assert.fail()
  const request = (...conditions: object[]): KubeObject =>
    created('certificates.k8s.io/v1beta1/podcertificaterequests', { spec: {}, status: { conditions } }) as KubeObject
  const written = (object: KubeObject, old: KubeObject): Record<string, unknown>[] => {
    prepare(object, old, '2026-01-01T00:00:00Z')
    return (object as unknown as { status: { conditions: Record<string, unknown>[] } }).status.conditions
  }
  const denied = {
    type: 'Denied',
    status: 'True',
    reason: 'R',
    message: 'm',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  assert.deepEqual(
    written(request({ type: 'Denied', status: 'True', reason: 'Other', message: '' }), request(denied)),
    [denied],
  )
  assert.match(
    String(written(request({ type: 'Failed', status: 'True' }), request())[0]?.lastTransitionTime),
    /^\d{4}-/,
  )
  assert.deepEqual(written(request(denied), request()), [denied])
})

test('events.k8s.io Events convert to core Events and back', () => {
  const core = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod' },
    message: 'm',
    count: 3,
    source: { component: 'kubelet' },
    firstTimestamp: '2020-01-01T00:00:00Z',
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  }
  const event = fromCore(structuredClone(core) as KubeObject)
  assert.deepEqual(event, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e' },
    regarding: { kind: 'Pod' },
    note: 'm',
    deprecatedCount: 3,
    deprecatedSource: { component: 'kubelet' },
    deprecatedFirstTimestamp: '2020-01-01T00:00:00Z',
    deprecatedLastTimestamp: null,
    eventTime: null,
  })
  assert.deepEqual(toCore(event), core)
})

test('resource.k8s.io/v1beta1 claims and slices convert to the stored version and back', () => {
  for (const [key, spec, stored] of [
    [
      'resourceclaims',
      {
        devices: {
          requests: [
            { name: 'a', deviceClassName: 'c' },
            { name: 'b', firstAvailable: [] },
          ],
        },
      },
      {
        devices: {
          requests: [
            { name: 'a', exactly: { deviceClassName: 'c' } },
            { name: 'b', firstAvailable: [] },
          ],
        },
      },
    ],
    [
      'resourceslices',
      { devices: [{ name: 'd', basic: { allNodes: true } }] },
      { devices: [{ name: 'd', allNodes: true }] },
    ],
  ] as const) {
    const { storedAs, kind } = find(`resource.k8s.io/v1beta1/${key}`)
    const object = { apiVersion: 'resource.k8s.io/v1beta1', kind, metadata: { name: 'x' }, spec }
    const inStore = storedAs?.toStorage?.(structuredClone(object) as unknown as KubeObject)
    assert.deepEqual(inStore, { ...object, apiVersion: 'resource.k8s.io/v1', spec: stored })
    assert.deepEqual(storedAs?.fromStorage?.(structuredClone(inStore) as KubeObject), object)
  }
})
