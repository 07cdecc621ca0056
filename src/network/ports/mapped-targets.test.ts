import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '../../client/kinds.ts'
import { mappedTargets } from './mapped-targets.ts'
import { parseMapping } from './port-mapping.ts'

const metadata = { namespace: 'default', name: 'web' }

const service = (spec: Service['spec']): Service => ({ apiVersion: 'v1', kind: 'Service', metadata, spec })

const web = service({
  ports: [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
})

const slice = (...endpoints: NonNullable<EndpointSlice['endpoints']>): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata,
  addressType: 'IPv4',
  ports: [
    { name: 'http', port: 8080, protocol: 'TCP' },
    { name: 'dns', port: 5353, protocol: 'UDP' },
  ],
  endpoints,
})

const ready = { addresses: ['10.0.0.1'], conditions: { ready: true } }
const failing = { addresses: ['10.0.0.2'], conditions: { ready: false } }
const leaving = { addresses: ['10.0.0.3'], conditions: { ready: false, serving: true, terminating: true } }

const targets = (text: string, ...endpoints: NonNullable<EndpointSlice['endpoints']>) =>
  mappedTargets(parseMapping(text)!, web, [slice(...endpoints)])

test('a mapping names the port of the Service by its number or name, and leads to ready endpoints', () => {
  for (const text of ['8080:web:80', '8080:web:http'])
    assert.deepEqual(targets(text, ready, failing, leaving), {
      targets: [{ address: '10.0.0.1', port: 8080 }],
      status: 'open, 1 endpoint',
    })
  assert.deepEqual(targets('53:web:53/udp', ready, { ...ready, addresses: ['10.0.0.4'] }), {
    targets: [
      { address: '10.0.0.1', port: 5353 },
      { address: '10.0.0.4', port: 5353 },
    ],
    status: 'open, 2 endpoints',
  })
})

test('endpoints that terminate are used while no other serves', () => {
  assert.deepEqual(targets('8080:web:80', failing, leaving).targets, [{ address: '10.0.0.3', port: 8080 }])
})

test('the status names the reason why there is no target', () => {
  const of = (text: string, given: Service | undefined) => mappedTargets(parseMapping(text)!, given, []).status
  assert.match(of('8080:web:80', undefined), /^the Service default\/web does not exist yet: /)
  assert.match(of('8080:web:80', web), /^the Service default\/web has no ready endpoint: /)
  assert.equal(of('8080:web:53', web), 'the Service default/web has no TCP port 53: it has 80/TCP (http), 53/UDP (dns)')
  assert.match(of('8080:web:80', service({ type: 'ExternalName', externalName: 'x' })), /is an ExternalName/)
  assert.match(of('8080:web:80', service({})), /has no TCP port 80: it has no ports$/)
})
