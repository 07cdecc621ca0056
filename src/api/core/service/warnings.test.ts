import assert from 'node:assert/strict'
import test from 'node:test'
import type { Service } from './rules.ts'
import { serviceWarnings } from './warnings.ts'

const of = (spec: object, annotations?: Record<string, string>): readonly string[] =>
  serviceWarnings({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', annotations },
    spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec },
  } as Service)

test('Services cause warnings about fields that are ignored or deprecated', () => {
  assert.deepEqual(of({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }), [])
  assert.deepEqual(of({}, { 'service.kubernetes.io/topology-aware-hints': 'auto' }), [
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use ' +
      'service.kubernetes.io/topology-mode instead',
  ])
  assert.deepEqual(
    of({ clusterIP: 'None', loadBalancerIP: '1.2.3.4', externalIPs: ['1.2.3.4'], sessionAffinity: 'ClientIP' }),
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
    ],
  )
  assert.deepEqual(of({ externalIPs: ['1.2.3.4'], externalName: 'a.b' }), [
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ])
  assert.deepEqual(of({ type: 'ExternalName', externalIPs: ['1.2.3.4'] }), [
    'spec.externalIPs is ignored when spec.type is "ExternalName"',
  ])
  assert.deepEqual(of({ trafficDistribution: 'PreferClose', loadBalancerSourceRanges: ['10.0.0.1/8'] }), [
    'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be ' +
      '"10.0.0.0/8" or "10.0.0.1/32"?)',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ])
})
