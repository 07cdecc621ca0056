/** Validation of Services. Runs after the allocation of addresses and node ports. */

import { isIPv6 } from 'node:net'
import type { V1Service } from '@kubernetes/client-node'
import { own } from '../../../lib/own.ts'
import type { Model } from '../../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  exceptOldValues,
  follows,
  oneOf,
  port as portNumber,
  portOrName,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import { number, optional, struct, text } from '../../../machinery/validation/internal-type.ts'
import { validateLabels } from '../../../machinery/validation/metadata.ts'
import { cidr, dnsLabel, dnsSubdomain, ipAddress, qualifiedName } from '../../../machinery/validation/names.ts'
import { protocols } from '../pod/validation/containers/containers.ts'
import { validateEndpointAddress } from './address-rules.ts'
import { isExternallyAccessible, needsHealthCheckPort } from './traits.ts'

export type Service = Model<V1Service>
export type ServiceSpec = NonNullable<Service['spec']>
type Port = NonNullable<ServiceSpec['ports']>[number]

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const policies = ['Cluster', 'Local']
const onlyForBalancers = "may only be used when `type` is 'LoadBalancer'"
const maxAffinitySeconds = 86400

const isHeadless = (spec: ServiceSpec): boolean => spec.clusterIP === 'None'

/** Validates a Service, in upstream's order. */
export function serviceRules(service: Service, old?: Service): readonly FieldError[] {
  const { metadata, spec = {} } = service
  return all(
    topologyMode(metadata.annotations),
    !spec.ports?.length && !isHeadless(spec) && spec.type !== 'ExternalName' ? [required('spec.ports')] : valid,
    typeRules(spec),
    ports(spec.ports ?? []),
    validateLabels(spec.selector, 'spec.selector'),
    affinity(spec),
    spec.type === 'ExternalName' ? valid : addressRules(spec),
    each(spec.externalIPs, 'spec.externalIPs', validateEndpointAddress),
    spec.type
      ? types.includes(spec.type)
        ? valid
        : [notSupported('spec.type', spec.type, types)]
      : [required('spec.type')],
    nodePorts(spec),
    sourceRanges(service, old),
    loadBalancer(spec),
    trafficPolicies(spec),
  )
}

const modeAnnotation = 'service.kubernetes.io/topology-mode'
const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints'

/** Requires that both annotations match. */
function topologyMode(annotations: Readonly<Record<string, string>> | undefined): readonly FieldError[] {
  const mode = own(annotations, modeAnnotation)
  const hints = own(annotations, hintsAnnotation)
  return mode === undefined || hints === undefined || mode === hints
    ? valid
    : [
        invalidValue(
          `metadata.annotations[${modeAnnotation}]`,
          mode,
          `must match annotations[${hintsAnnotation}] when both are specified`,
        ),
      ]
}

function typeRules(spec: ServiceSpec): readonly FieldError[] {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort')
    return isHeadless(spec)
      ? [invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`)]
      : valid
  if (spec.type !== 'ExternalName') return valid
  const none = 'may not be set for ExternalName services'
  const errors: FieldError[] = []
  if (spec.clusterIPs?.length) errors.push(forbiddenField('spec.clusterIPs', none))
  if (spec.ipFamilies?.length) errors.push(forbiddenField('spec.ipFamilies', none))
  if (spec.ipFamilyPolicy) errors.push(forbiddenField('spec.ipFamilyPolicy', none))
  const target = spec.externalName?.replace(/\.$/, '')
  return all(errors, target ? follows(target, 'spec.externalName', dnsSubdomain) : [required('spec.externalName')])
}

function ports(list: readonly Port[]): readonly FieldError[] {
  const names = new Set<string>()
  return list.flatMap(({ name, port, protocol, targetPort, appProtocol }, i) => {
    const path = `spec.ports[${i}]`
    const duplicates = name && names.has(name) ? [duplicate(`${path}.name`, name)] : valid
    if (name) names.add(name)
    return all(
      name ? follows(name, `${path}.name`, dnsLabel) : list.length > 1 ? [required(`${path}.name`)] : valid,
      duplicates,
      portNumber(port ?? 0, `${path}.port`),
      !protocol
        ? [required(`${path}.protocol`)]
        : protocols.includes(protocol)
          ? valid
          : [notSupported(`${path}.protocol`, protocol, protocols)],
      portOrName(targetPort, `${path}.targetPort`),
      follows(appProtocol, `${path}.appProtocol`, qualifiedName),
    )
  })
}

function affinity({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): readonly FieldError[] {
  const errors = oneOf(sessionAffinity, 'spec.sessionAffinity', ['ClientIP', 'None'], 'needed')
  if (sessionAffinity === 'None' && config)
    return [...errors, forbiddenField('spec.sessionAffinityConfig', 'must not be set when session affinity is None')]
  if (sessionAffinity !== 'ClientIP') return errors
  const path = 'spec.sessionAffinityConfig.clientIP'
  const seconds = config?.clientIP?.timeoutSeconds
  if (!config?.clientIP) return [required(path, 'when session affinity type is ClientIP')]
  if (seconds === undefined) return [required(`${path}.timeoutSeconds`, 'when session affinity type is ClientIP')]
  return seconds <= 0 || seconds > maxAffinitySeconds
    ? [invalidValue(`${path}.timeoutSeconds`, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)]
    : valid
}

/**
 * Validates that cluster IPs, families and the policy match. The allocation calls this too, before it sets missing
 * values.
 */
export function addressRules({
  clusterIP,
  clusterIPs = [],
  ipFamilies = [],
  ipFamilyPolicy,
}: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (clusterIPs.length > 0) {
    if (!clusterIP)
      errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified'))
    else if (clusterIPs[0] !== clusterIP)
      errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`'))
  }
  const seen = new Set<string>()
  ipFamilies.forEach((family, i) => {
    if (family !== 'IPv4' && family !== 'IPv6')
      errors.push(notSupported(`spec.ipFamilies[${i}]`, family, ['IPv4', 'IPv6']))
    if (seen.has(family)) errors.push(duplicate(`spec.ipFamilies[${i}]`, family))
    seen.add(family)
  })
  errors.push(...oneOf(ipFamilyPolicy, 'spec.ipFamilyPolicy', ['PreferDualStack', 'RequireDualStack', 'SingleStack']))
  let hasInvalid = false
  clusterIPs.forEach((ip, i) => {
    if (ip === 'None' && i === 0) {
      if (clusterIPs.length === 1) return
      hasInvalid = true
      errors.push(invalidValue('spec.clusterIPs', clusterIPs, "'None' must be the first and only value"))
      return
    }
    const wrong = follows(ip, `spec.clusterIPs[${i}]`, ipAddress)
    if (wrong.length > 0) hasInvalid = true
    errors.push(...wrong)
  })
  if (clusterIPs.length > 2) errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values'))
  // Further errors would be confusing if an address is invalid.
  if (hasInvalid) return errors
  if (clusterIPs.length > 1 && clusterIPs.every((ip) => isIPv6(ip) === isIPv6(clusterIPs[0] as string)))
    errors.push(invalidValue('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family'))
  clusterIPs.forEach((ip, i) => {
    const family = ipFamilies[i]
    if (ip !== 'None' && family && (family === 'IPv6') !== isIPv6(ip))
      errors.push(
        invalidValue(`spec.clusterIPs[${i}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``),
      )
  })
  return errors
}

function nodePorts({ type, ports: list = [] }: ServiceSpec): readonly FieldError[] {
  const errors: FieldError[] = []
  const taken = new Set<string>()
  const pairs = new Set<string>()
  list.forEach(({ nodePort, protocol, port }, i) => {
    const path = `spec.ports[${i}]`
    if (type === 'ClusterIP' && nodePort)
      errors.push(forbiddenField(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"))
    if (nodePort) {
      if (taken.has(`${protocol}/${nodePort}`)) errors.push(duplicate(`${path}.nodePort`, nodePort))
      taken.add(`${protocol}/${nodePort}`)
    }
    if (pairs.has(`${protocol}/${port}`)) errors.push(duplicate(path, shownPort({ protocol, port })))
    pairs.add(`${protocol}/${port}`)
  })
  return errors
}

/** Upstream shows a port with protocol and port only. */
const shownPort = struct({
  Name: text,
  Protocol: text,
  AppProtocol: optional,
  Port: number,
  TargetPort: number,
  NodePort: number,
})

/** The annotation that the field replaced. */
const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'

/** Validates source ranges, which may be surrounded by spaces. Upstream's path begins with a capital letter. */
function sourceRanges(
  { metadata: { annotations }, spec = {} }: Service,
  old: Service | undefined,
): readonly FieldError[] {
  const { loadBalancerSourceRanges: ranges } = spec
  const annotated = own(annotations, rangesAnnotation)
  if (!ranges?.length && annotated === undefined) return valid
  const path = ranges?.length ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${rangesAnnotation}]`
  const rule = exceptOldValues(cidr, old?.spec?.loadBalancerSourceRanges)
  return all(
    spec.type === 'LoadBalancer' ? valid : [forbiddenField(path, onlyForBalancers)],
    ranges?.length
      ? each(ranges, path, (range, at) => follows(range.trim(), at, rule))
      : annotated?.trim()
        ? annotated.split(',').flatMap((range) => follows(range.trim(), path, cidr))
        : valid,
  )
}

function loadBalancer({
  type,
  allocateLoadBalancerNodePorts: allocate,
  loadBalancerClass,
}: ServiceSpec): readonly FieldError[] {
  const isBalancer = type === 'LoadBalancer'
  const errors: FieldError[] = []
  if (isBalancer && allocate === undefined) errors.push(required('spec.allocateLoadBalancerNodePorts'))
  if (!isBalancer && allocate !== undefined)
    errors.push(forbiddenField('spec.allocateLoadBalancerNodePorts', onlyForBalancers))
  if (loadBalancerClass !== undefined) {
    if (isBalancer) errors.push(...follows(loadBalancerClass, 'spec.loadBalancerClass', qualifiedName))
    else errors.push(forbiddenField('spec.loadBalancerClass', onlyForBalancers))
  }
  return errors
}

function trafficPolicies(spec: ServiceSpec): readonly FieldError[] {
  const { type, externalTrafficPolicy: external, internalTrafficPolicy: internal, healthCheckNodePort } = spec
  const errors: FieldError[] = []
  if (isExternallyAccessible(spec)) errors.push(...oneOf(external, 'spec.externalTrafficPolicy', policies, 'needed'))
  else if (external)
    errors.push(
      invalidValue('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'),
    )
  if (healthCheckNodePort) {
    if (needsHealthCheckPort(spec)) errors.push(...portNumber(healthCheckNodePort, 'spec.healthCheckNodePort'))
    else
      errors.push(
        invalidValue(
          'spec.healthCheckNodePort',
          healthCheckNodePort,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
      )
  }
  if (internal !== undefined) errors.push(...oneOf(internal, 'spec.internalTrafficPolicy', policies, 'needed'))
  else if (type && types.includes(type) && type !== 'ExternalName') errors.push(required('spec.internalTrafficPolicy'))
  return all(
    errors,
    oneOf(spec.trafficDistribution, 'spec.trafficDistribution', ['PreferClose', 'PreferSameZone', 'PreferSameNode']),
  )
}
