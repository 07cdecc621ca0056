import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileDefaults } from '../../defaults.ts'
import { kind, objectOf } from '../core.fixture.ts'
import { keepAllocated } from './prepare.ts'
import type { Service } from './rules.ts'

test('a Service update keeps allocated values and drops fields that its type does not have', () => {
  const update = (spec: object, old: object): object => {
    const service = objectOf('services', { spec, status: { loadBalancer: {} } })
    compileDefaults(kind('services').defaults ?? [])(service)
    keepAllocated(service as Service, objectOf('services', { spec: old }) as Service)
    kind('services').prepare?.update?.(service, objectOf('services', { spec: old }))
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
