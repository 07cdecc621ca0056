import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../machinery/object.ts'
import { resources as coordination } from './coordination/index.ts'
import { resources as discovery } from './discovery/index.ts'
import { resources as dra } from './dra/index.ts'
import { resources as networking } from './networking/index.ts'
import { resources as policy } from './policy/index.ts'
import type { ResourceDefinition } from './resource.ts'
import { resources as storage } from './storage/index.ts'

const all: readonly ResourceDefinition[] = [...coordination, ...discovery, ...dra, ...networking, ...policy, ...storage]
const find = (plural: string): ResourceDefinition | undefined => all.find((one) => one.plural === plural)
const of = (part: object): KubeObject => ({ apiVersion: 'v1', kind: 'K', metadata: { name: 'x' }, ...part })

type Rows = readonly (readonly [plural: string, what: string, part: object, wrong: readonly string[], old?: object])[]

const segment = (name: string): string => `Invalid value: "${name}": may not contain '/'`
const slice = { driver: 'd', pool: { name: 'p', resourceSliceCount: 1 }, allNodes: true }
const version = 'must be a valid semantic version'
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const candidate = { leaseName: 'l', strategy: 'a/b', binaryVersion: '1.36.0' }

const writes: Rows = [
  [
    'poddisruptionbudgets',
    'two limits',
    { spec: { maxUnavailable: '50%', minAvailable: 1, selector: { matchLabels: { b: '', a: '' } } } },
    [
      'spec: Invalid value: ' +
        '{"MinAvailable":1,"Selector":{"matchLabels":{"a":"","b":""}},' +
        '"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: ' +
        'minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [
    'csinodes',
    'a changed node id',
    { spec: { drivers: [{ name: 'd', nodeID: 'b' }] } },
    [
      'spec.drivers: Invalid value: {"Name":"d","NodeID":"b","TopologyKeys":null,"Allocatable":null}: field is ' +
        'immutable',
    ],
    { spec: { drivers: [{ name: 'd', nodeID: 'a' }] } },
  ],
  [
    'ipaddresses',
    'a changed parent',
    { spec: { parentRef: { resource: 'services', name: 'b' } } },
    ['spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"b"}: field is immutable'],
    { spec: { parentRef: { resource: 'services', name: 'a' } } },
  ],
  [
    'csidrivers',
    'tokens in secrets with token requests',
    { spec: { serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: 'a' }] } },
    [],
  ],
  [
    'csidrivers',
    'tokens in secrets without token requests',
    { spec: { serviceAccountTokenInSecrets: false } },
    [
      'spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no ' +
        'tokenRequests are specified',
    ],
  ],
  ['volumeattributesclasses', 'a valid driver name', { driverName: 'CSI.example.com', parameters: { a: 'b' } }, []],
  [
    'volumeattributesclasses',
    'an invalid driver name',
    { driverName: '-', parameters: { a: 'b' } },
    [
      "driverName: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and " +
        "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used " +
        "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    'ingressclasses',
    'parameters with a slash in the name',
    { spec: { controller: 'a.b/c', parameters: { kind: 'a/b', name: 'c/d' } } },
    [`spec.parameters.kind: ${segment('a/b')}`, `spec.parameters.name: ${segment('c/d')}`],
  ],
  [
    'ingresses',
    'a backend with a slash in the name',
    { spec: { defaultBackend: { resource: { kind: 'a/b', name: 'c/d' } } } },
    [`spec.defaultBackend.resource.kind: ${segment('a/b')}`, `spec.defaultBackend.resource.name: ${segment('c/d')}`],
  ],
  [
    'servicecidrs',
    'an added IP family',
    { spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } },
    [],
    { spec: { cidrs: ['10.0.0.0/24'] } },
  ],
  [
    'servicecidrs',
    'a removed IP family',
    { spec: { cidrs: ['10.0.0.0/24'] } },
    ['spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable'],
    { spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } },
  ],
  ['leasecandidates', 'valid versions', { spec: { ...candidate, emulationVersion: '1.35.0' } }, []],
  [
    'leasecandidates',
    'invalid versions',
    { spec: { ...candidate, binaryVersion: 'v1', emulationVersion: '1' } },
    [`spec.emulationVersion: Invalid value: "1": ${version}`, `spec.binaryVersion: Invalid value: "v1": ${version}`],
  ],
  [
    'leasecandidates',
    'an unknown strategy, and a binary older than its emulation version',
    { spec: { leaseName: 'A_l', strategy: 'foo', binaryVersion: '1.36.0-alpha.1', emulationVersion: '1.36.0' } },
    [
      'spec.binaryVersion: Invalid value: "1.36.0-alpha.1": must be greater than or equal to `emulationVersion`',
      'spec.strategy.strategy: Unsupported value: "foo": supported values: "OldestEmulationVersion"',
    ],
  ],
  [
    'leases',
    'a preferred holder without a strategy',
    { spec: { preferredHolder: 'a' } },
    ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
  ],
  [
    'leases',
    'a custom strategy',
    { spec: { preferredHolder: 'a', holderIdentity: '', strategy: 'example.com/mine' } },
    [],
  ],
  [
    'leases',
    'a strategy that is no label key',
    { spec: { strategy: 'a/b/c' } },
    [
      'spec.strategy.strategy: Invalid value: "a/b/c": a valid label key must consist of alphanumeric ' +
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or " +
        "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an " +
        "optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ],
  ],
  [
    'csidrivers',
    'a duplicate audience and an unknown mode',
    {
      spec: {
        tokenRequests: [{ audience: 'a' }, { audience: 'a', expirationSeconds: 1 }],
        volumeLifecycleModes: ['foo'],
      },
    },
    [
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.volumeLifecycleModes: Unsupported value: "foo": supported values: "Persistent", "Ephemeral"',
    ],
  ],
  [
    'storageclasses',
    'duplicate topology terms',
    {
      provisioner: 'a',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'k', values: ['a', 'b'] }] },
        { matchLabelExpressions: [{ key: 'k', values: ['b', 'a'] }] },
      ],
    },
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'storageclasses',
    'too many parameters',
    {
      provisioner: 'a',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
      parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`${i}`, ''])),
    },
    ['parameters: Too long: may not be more than 512 bytes'],
  ],
  [
    'ingressclasses',
    'incomplete parameters',
    { spec: { controller: 'a.b/c', parameters: { scope: 'Namespace', namespace: '' } } },
    [
      'spec.parameters.kind: Required value',
      'spec.parameters.name: Required value',
      `spec.parameters.namespace: Invalid value: "": ${label}`,
    ],
  ],
  [
    'ingresses',
    'an address as a host',
    {
      spec: {
        rules: [{ host: '[::1]' }, { host: '10.0.0.1' }],
        defaultBackend: { service: { name: 'a', port: { number: 80 } } },
      },
    },
    [
      `spec.rules[0].host: Invalid value: "[::1]": ${subdomain}`,
      'spec.rules[1].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ],
  ],
  [
    'networkpolicies',
    'an endPort below the port, and exceptions outside of the range',
    {
      spec: {
        podSelector: {},
        ingress: [
          {
            ports: [{ protocol: 'TCP', port: 20, endPort: 10 }],
            from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', 'x'] } }],
          },
        ],
      },
    },
    [
      'spec.ingress[0].ports[0].endPort: Invalid value: 20: must be greater than or equal to `port`',
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "x": must be a valid CIDR value, (e.g. ' +
        '10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    'servicecidrs',
    'two ranges of one IP family',
    { spec: { cidrs: ['10.0.0.0/24', '10.1.0.0/24'] } },
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for each IP ' +
        'family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
  [
    'servicecidrs',
    'ranges that are not canonical',
    { spec: { cidrs: ['10.0.0.1/24', 'FD00::/112'] } },
    [
      'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      'spec.cidrs[1]: Invalid value: "FD00::/112": must be in canonical form ("fd00::/112")',
    ],
  ],
  [
    'deviceclasses',
    'a native resource name as extendedResourceName',
    { spec: { extendedResourceName: 'cpu' } },
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
  ['deviceclasses', 'a qualified extendedResourceName', { spec: { extendedResourceName: 'a.example/gpu' } }, []],
  [
    'resourceslices',
    'a changed pool name',
    { spec: { ...slice, pool: { ...slice.pool, name: 'q' } } },
    ['spec.pool.name: Invalid value: "q": field is immutable'],
    { spec: slice },
  ],
  [
    'devicetaintrules',
    'a taint of one device',
    { spec: { deviceSelector: { driver: 'd', pool: 'p', device: 'a' }, taint: { key: 'k', effect: 'NoExecute' } } },
    [],
  ],
  ['devicetaintrules', 'no effect', { spec: { taint: { key: 'k' } } }, ['spec.taint.effect: Required value']],
  [
    'devicetaintrules',
    'an invalid effect that the update does not change',
    { spec: { taint: { key: 'k', effect: 'Old' } } },
    [],
    { spec: { taint: { key: 'k', effect: 'Old' } } },
  ],
]

for (const [plural, what, part, wrong, old] of writes)
  test(`validation of ${plural}: ${what}`, () => {
    const { validate } = find(plural) ?? {}
    const errors = [
      ...(validate?.object?.(of(part)) ?? []),
      ...((old ? validate?.update?.(of(part), of(old)) : validate?.create?.(of(part))) ?? []),
    ]
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      wrong,
    )
  })

test('conditions of PodDisruptionBudgets and DeviceTaintRules need unique types and a reason', () => {
  const condition = {
    type: 'DisruptionAllowed',
    status: 'True',
    reason: 'SufficientPods',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    message: '',
  }
  for (const plural of ['poddisruptionbudgets', 'devicetaintrules']) {
    const statusErrors = (...conditions: object[]): string[] =>
      (find(plural)?.validate?.status?.(of({ status: { conditions } }), of({})) ?? []).map(
        ({ field, message }) => `${field}: ${message}`,
      )
    assert.deepEqual(statusErrors(condition), [], plural)
    assert.deepEqual(
      statusErrors(condition, { ...condition, reason: '' }),
      [
        'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
        'status.conditions[1].reason: Required value: must be set',
      ],
      plural,
    )
  }
})

test('addresses and driver names that are not canonical cause a warning', () => {
  const warningsOf = (plural: string, part: object): readonly string[] =>
    find(plural)?.warnings?.(of(part), undefined) ?? []
  assert.deepEqual(warningsOf('endpointslices', { addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1'] }] }), [
    'endpoints[0].addresses[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ])
  assert.deepEqual(warningsOf('resourceslices', { spec: { driver: 'GPU.example' } }), [
    'spec.driver: driver names should be lowercase; "GPU.example" contains uppercase characters',
  ])
})

test('CIDRs with bits beyond the prefix are invalid, unless the update does not change them', () => {
  const policy = (...ranges: string[]): KubeObject =>
    of({ spec: { podSelector: {}, ingress: [{ from: ranges.map((cidr) => ({ ipBlock: { cidr } })) }] } })
  const rules = find('networkpolicies')?.validate?.object ?? assert.fail()
  const fields = (now: KubeObject, old?: KubeObject): string[] => rules(now, old).map(({ field }) => field)
  assert.deepEqual(fields(policy('10.0.0.1/24')), ['spec.ingress[0].from[0].ipBlock.cidr'])
  assert.deepEqual(fields(policy('10.0.0.1/24'), policy('10.0.0.1/24')), [])
  assert.deepEqual(fields(policy('10.0.0.1/24', '10.1.0.1/24'), policy('10.0.0.1/24')), [
    'spec.ingress[0].from[1].ipBlock.cidr',
  ])
})
