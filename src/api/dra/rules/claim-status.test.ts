import assert from 'node:assert/strict'
import test from 'node:test'
import type { ResourceV1ResourceClaim } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { claimStatusRules, removeStaleDevices } from './claim-status.ts'

type Claim = Model<ResourceV1ResourceClaim>

const claim = (status: object, metadata: object = {}): Claim =>
  ({
    metadata: { name: 'c', ...metadata },
    spec: { devices: { requests: [{ name: 'r', exactly: {} }] } },
    status,
  }) as unknown as Claim
const errorsOf = (status: object, old: object = {}, metadata: object = {}): string[] =>
  claimStatusRules(claim(status, metadata), claim(old)).map(
    ({ field, message }) => `${field.replace('status.', '')}: ${message}`,
  )

const result = { request: 'r', driver: 'd.example', pool: 'p', device: 'x' }
const allocation = (over: object = {}): object => ({ allocation: { devices: { results: [{ ...result, ...over }] } } })
const user = { resource: 'pods', name: 'a', uid: 'u' }
const uid = '0aa3a1b2-0000-4000-8000-00000000000a'
const { request: _, ...ofDriver } = result
const withDevice = (over: object): object => ({ ...allocation(), devices: [{ ...ofDriver, ...over }] })

const rows: readonly (readonly [what: string, status: object, wrong: readonly string[], old?: object])[] = [
  ['allocated and reserved', { ...allocation(), reservedFor: [user] }, []],
  [
    'reserved without an allocation',
    { reservedFor: [user] },
    ['reservedFor: Forbidden: may not be specified when `allocated` is not set'],
  ],
  [
    'consumers without names, one of them a duplicate',
    { ...allocation(), reservedFor: [{ uid: 'u' }, user] },
    [
      'reservedFor[0].resource: Required value',
      'reservedFor[0].name: Required value',
      'reservedFor[1]: Duplicate value: "u"',
    ],
  ],
  [
    'an unknown request',
    allocation({ request: 'q' }),
    [
      'allocation.devices.results[0].request: Invalid value: "q": must be the name of a request in the claim or ' +
        "the name of a request and a subrequest separated by '/'",
    ],
  ],
  ['no pool', allocation({ pool: '' }), ['allocation.devices.results[0].pool: Required value']],
  ['a share ID', allocation({ shareID: uid }), []],
  [
    'a share ID in upper case',
    allocation({ shareID: uid.toUpperCase() }),
    [
      `allocation.devices.results[0].shareID: Invalid value: "${uid.toUpperCase()}": uid must be in RFC 4122 ` +
        'normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ],
  ],
  [
    'an invalid share ID',
    allocation({ shareID: 'x' }),
    ['allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1'],
  ],
  [
    'without driver, pool and device',
    { allocation: { devices: { config: [{ source: 'x', opaque: { driver: 'd', parameters: {} } }, {}] } } },
    [
      'allocation.devices.config[0].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"',
      'allocation.devices.config[1].source: Required value',
      'allocation.devices.config[1].opaque: Required value',
    ],
  ],
  ['an unchanged allocation', allocation(), [], allocation()],
  [
    'a changed allocation',
    allocation({ device: 'y' }),
    [
      'allocation: Invalid value: ' +
        `${JSON.stringify((allocation({ device: 'y' }) as { allocation: object }).allocation)}: field is immutable`,
    ],
    allocation(),
  ],
  ['a removed allocation', {}, [], allocation()],
  ['a device status', withDevice({ conditions: null, networkData: { ips: ['10.0.0.1/24', '2001:db8::1/64'] } }), []],
  [
    'a status of a device that is not allocated',
    withDevice({ device: 'y' }),
    ['devices[0]: Invalid value: d.example/p/y: must be an allocated device in the claim'],
  ],
  [
    'device data that is no object',
    withDevice({ data: [] }),
    ['devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object'],
  ],
  [
    'invalid network data',
    withDevice({ networkData: { interfaceName: 'x'.repeat(257), ips: ['10.0.0.1', '2001:DB8::1/64'] } }),
    [
      'interfaceName: Too long: may not be more than 256 bytes',
      'ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'ips[1]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")',
    ].map((line) => `devices[0].networkData.${line}`),
  ],
  [
    'an invalid condition',
    withDevice({ conditions: [{ type: 'Ready', status: 'Yes' }] }),
    [
      'status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
      'lastTransitionTime: Required value: must be set',
      'reason: Required value: must be set',
    ].map((line) => `devices[0].conditions[0].${line}`),
  ],
]

for (const [what, status, wrong, old] of rows)
  test(`the status of a claim: ${what}`, () => assert.deepEqual(errorsOf(status, old), wrong))

test('a claim that is being deleted cannot get new consumers', () => {
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const used = { ...allocation(), reservedFor: [user] }
  assert.deepEqual(errorsOf(used, used, deleted), [])
  assert.deepEqual(errorsOf(used, allocation(), deleted), [
    'reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
  ])
})

test('a device status is removed with its allocation', () => {
  const after = claim({ devices: [{ ...ofDriver }] })
  removeStaleDevices(after, claim(withDevice({})))
  assert.equal(after.status?.devices, undefined)
})
