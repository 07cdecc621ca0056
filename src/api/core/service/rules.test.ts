import assert from 'node:assert/strict'
import test from 'node:test'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { type Service, serviceRules } from './rules.ts'
import { serviceUpdate } from './update-rules.ts'

const errorMessages = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)

function service(spec: object, annotations?: Record<string, string>): Service {
  const whole = {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    ...spec,
  }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace: 'n', annotations }, spec: whole }
}
const validationErrors = (spec: object, annotations?: Record<string, string>): string[] =>
  errorMessages(serviceRules(service(spec, annotations)))
const updateErrors = (spec: object, old: object): string[] => errorMessages(serviceUpdate(service(spec), service(old)))

test('clusterIPs of a Service are valid, with one address for each IP family', () => {
  assert.deepEqual(validationErrors({ clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] }), [
    `spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: 'None' must be the first and only value`,
  ])
  assert.deepEqual(
    validationErrors({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'], ipFamilies: ['IPv6'] }),
    [
      'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
  )
})

test('source ranges, in the field or the annotation, are for load balancers only', () => {
  assert.deepEqual(validationErrors({ loadBalancerSourceRanges: ['10.0.0.0/8'] }), [
    "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
  ])
  const key = 'service.beta.kubernetes.io/load-balancer-source-ranges'
  const balancer = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' }
  assert.deepEqual(validationErrors(balancer, { [key]: '10.0.0.0/8, x' }), [
    `metadata.annotations[${key}]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
  ])
})

test('the primary address and family are immutable, the secondary needs SingleStack to be removed', () => {
  const dual = {
    clusterIPs: ['10.0.0.1', '2001:db8::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
  }
  const single = { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] }
  assert.deepEqual(updateErrors({ ...single, ipFamilyPolicy: 'SingleStack' }, dual), [])
  assert.deepEqual(updateErrors({ ...single, ipFamilyPolicy: 'PreferDualStack' }, dual), [
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the ' +
      'secondary clusterIP',
    'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the ' +
      'secondary ipFamily',
  ])
  assert.deepEqual(updateErrors({ clusterIPs: ['10.0.0.2'], ipFamilies: ['IPv6'] }, single), [
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
  ])
})

test('trafficDistribution has one of three values', () => {
  assert.deepEqual(validationErrors({ trafficDistribution: 'PreferSameNode' }), [])
  assert.deepEqual(validationErrors({ trafficDistribution: 'Random' }), [
    'spec.trafficDistribution: Unsupported value: "Random": supported values: "PreferClose", "PreferSameZone", ' +
      '"PreferSameNode"',
  ])
})
