import assert from 'node:assert/strict'
import test from 'node:test'
import type { ResourceV1ResourceClaim } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { claimStatusRules, forgetDevices } from './claim-status.ts'

type Claim = Model<ResourceV1ResourceClaim>

const claim = (status: object, metadata: object = {}): Claim =>
  ({
    metadata: { name: 'c', ...metadata },
    spec: { devices: { requests: [{ name: 'r', exactly: {} }] } },
    status,
  }) as unknown as Claim
const told = (status: object, old: object = {}, metadata: object = {}): string[] =>
  claimStatusRules(claim(status, metadata), claim(old)).map(
    ({ field, message }) => `${field.replace('status.', '')}: ${message}`,
  )

const result = { request: 'r', driver: 'd.example', pool: 'p', device: 'x' }
const allocation = (over: object = {}): object => ({ allocation: { devices: { results: [{ ...result, ...over }] } } })
const user = { resource: 'pods', name: 'a', uid: 'u' }
const uid = '0aa3a1b2-0000-4000-8000-00000000000a'
const { request: _, ...ofDriver } = result
const said = (over: object): object => ({ ...allocation(), devices: [{ ...ofDriver, ...over }] })

const rows: readonly (readonly [what: string, status: object, wrong: readonly string[], old?: object])[] = [
  ['allocated and in use', { ...allocation(), reservedFor: [user] }, []],
  [
    'in use, not allocated',
    { reservedFor: [user] },
    ['reservedFor: Forbidden: may not be specified when `allocated` is not set'],
  ],
  [
    'users without names, one twice',
    { ...allocation(), reservedFor: [{ uid: 'u' }, user] },
    [
      'reservedFor[0].resource: Required value',
      'reservedFor[0].name: Required value',
      'reservedFor[1]: Duplicate value: "u"',
    ],
  ],
  [
    'a request that is not there',
    allocation({ request: 'q' }),
    [
      'allocation.devices.results[0].request: Invalid value: "q": must be the name of a request in the claim or ' +
        "the name of a request and a subrequest separated by '/'",
    ],
  ],
  ['no pool', allocation({ pool: '' }), ['allocation.devices.results[0].pool: Required value']],
  ['a share', allocation({ shareID: uid }), []],
  [
    'a share in capitals',
    allocation({ shareID: uid.toUpperCase() }),
    [
      `allocation.devices.results[0].shareID: Invalid value: "${uid.toUpperCase()}": uid must be in RFC 4122 ` +
        'normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ],
  ],
  [
    'no share',
    allocation({ shareID: 'x' }),
    ['allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1'],
  ],
  [
    'from nowhere',
    { allocation: { devices: { config: [{ source: 'x', opaque: { driver: 'd', parameters: {} } }, {}] } } },
    [
      'allocation.devices.config[0].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"',
      'allocation.devices.config[1].source: Required value',
      'allocation.devices.config[1].opaque: Required value',
    ],
  ],
  ['one that stays', allocation(), [], allocation()],
  [
    'another one',
    allocation({ device: 'y' }),
    [
      'allocation: Invalid value: ' +
        `${JSON.stringify((allocation({ device: 'y' }) as { allocation: object }).allocation)}: field is immutable`,
    ],
    allocation(),
  ],
  ['taken away', {}, [], allocation()],
  ['said of a device', said({ conditions: null, networkData: { ips: ['10.0.0.1/24', '2001:db8::1/64'] } }), []],
  [
    'said of another device',
    said({ device: 'y' }),
    ['devices[0]: Invalid value: d.example/p/y: must be an allocated device in the claim'],
  ],
  [
    'data that is no object',
    said({ data: [] }),
    ['devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object'],
  ],
  [
    'addresses',
    said({ networkData: { interfaceName: 'x'.repeat(257), ips: ['10.0.0.1', '2001:DB8::1/64'] } }),
    [
      'interfaceName: Too long: may not be more than 256 bytes',
      'ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'ips[1]: Invalid value: "2001:DB8::1/64": must be in canonical form ("2001:db8::1/64")',
    ].map((line) => `devices[0].networkData.${line}`),
  ],
  [
    'a condition',
    said({ conditions: [{ type: 'Ready', status: 'Yes' }] }),
    [
      'status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
      'lastTransitionTime: Required value: must be set',
      'reason: Required value: must be set',
    ].map((line) => `devices[0].conditions[0].${line}`),
  ],
]

for (const [what, status, wrong, old] of rows)
  test(`the status of a claim: ${what}`, () => assert.deepEqual(told(status, old), wrong))

test('nobody begins to use a claim that is being deleted', () => {
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const used = { ...allocation(), reservedFor: [user] }
  assert.deepEqual(told(used, used, deleted), [])
  assert.deepEqual(told(used, allocation(), deleted), [
    'reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
  ])
})

test('what was said of a device goes with its allocation', () => {
  const after = claim({ devices: [{ ...ofDriver }] })
  forgetDevices(after, claim(said({})))
  assert.equal(after.status?.devices, undefined)
})
