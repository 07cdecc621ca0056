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
const candidate = { leaseName: 'l', strategy: 'a/b', binaryVersion: '1.36.0' }

const writes: Rows = [
  ['csidrivers', 'tokens as secrets', { spec: { serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: 'a' }] } }, []],
  [
    'csidrivers',
    'no tokens as secrets',
    { spec: { serviceAccountTokenInSecrets: false } },
    ['spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified'],
  ],
  ['volumeattributesclasses', 'a driver', { driverName: 'CSI.example.com', parameters: { a: 'b' } }, []],
  [
    'volumeattributesclasses',
    'no driver',
    { driverName: '-', parameters: { a: 'b' } },
    [
      `driverName: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
  ],
  [
    'ingressclasses',
    'parameters that no path leads to',
    { spec: { controller: 'a.b/c', parameters: { kind: 'a/b', name: 'c/d' } } },
    [`spec.parameters.kind: ${segment('a/b')}`, `spec.parameters.name: ${segment('c/d')}`],
  ],
  [
    'ingresses',
    'a backend that no path leads to',
    { spec: { defaultBackend: { resource: { kind: 'a/b', name: 'c/d' } } } },
    [`spec.defaultBackend.resource.kind: ${segment('a/b')}`, `spec.defaultBackend.resource.name: ${segment('c/d')}`],
  ],
  ['servicecidrs', 'a second family', { spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } }, [], { spec: { cidrs: ['10.0.0.0/24'] } }],
  [
    'servicecidrs',
    'a family less',
    { spec: { cidrs: ['10.0.0.0/24'] } },
    ['spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable'],
    { spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } },
  ],
  ['leasecandidates', 'versions', { spec: { ...candidate, emulationVersion: '1.35.0' } }, []],
  [
    'leasecandidates',
    'no versions',
    { spec: { ...candidate, binaryVersion: 'v1', emulationVersion: '1' } },
    [`spec.emulationVersion: Invalid value: "1": ${version}`, `spec.binaryVersion: Invalid value: "v1": ${version}`],
  ],
  [
    'deviceclasses',
    'a name for containers',
    { spec: { extendedResourceName: 'cpu' } },
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
  ['deviceclasses', 'a name of a vendor', { spec: { extendedResourceName: 'a.example/gpu' } }, []],
  [
    'resourceslices',
    'another pool',
    { spec: { ...slice, pool: { ...slice.pool, name: 'q' } } },
    ['spec.pool.name: Invalid value: "q": field is immutable'],
    { spec: slice },
  ],
  ['devicetaintrules', 'one device', { spec: { deviceSelector: { driver: 'd', pool: 'p', device: 'a' }, taint: { key: 'k', effect: 'NoExecute' } } }, []],
  ['devicetaintrules', 'no effect', { spec: { taint: { key: 'k' } } }, ['spec.taint.effect: Required value']],
  ['devicetaintrules', 'an effect of old', { spec: { taint: { key: 'k', effect: 'Old' } } }, [], { spec: { taint: { key: 'k', effect: 'Old' } } }],
]

for (const [plural, what, part, wrong, old] of writes)
  test(`what may be written of ${plural}: ${what}`, () => {
    const { validate } = find(plural) ?? {}
    const errors = [...(validate?.object?.(of(part)) ?? []), ...((old ? validate?.update?.(of(part), of(old)) : validate?.create?.(of(part))) ?? [])]
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      wrong,
    )
  })

test('conditions of budgets and of taint rules are whole', () => {
  const condition = { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', lastTransitionTime: '2026-01-01T00:00:00Z', message: '' }
  for (const plural of ['poddisruptionbudgets', 'devicetaintrules']) {
    const told = (...conditions: object[]): string[] =>
      (find(plural)?.validate?.status?.(of({ status: { conditions } }), of({})) ?? []).map(({ field, message }) => `${field}: ${message}`)
    assert.deepEqual(told(condition), [], plural)
    assert.deepEqual(
      told(condition, { ...condition, reason: '' }),
      ['status.conditions[1].type: Duplicate value: "DisruptionAllowed"', 'status.conditions[1].reason: Required value: must be set'],
      plural,
    )
  }
})

test('addresses and drivers that are not written as they should be are told about', () => {
  const told = (plural: string, part: object): readonly string[] => find(plural)?.warnings?.(of(part), undefined) ?? []
  assert.deepEqual(told('endpointslices', { addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1'] }] }), [
    'endpoints[0].addresses[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
  ])
  assert.deepEqual(told('resourceslices', { spec: { driver: 'GPU.example' } }), [
    'spec.driver: driver names should be lowercase; "GPU.example" contains uppercase characters',
  ])
})
