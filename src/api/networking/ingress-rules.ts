/** Validation of Ingresses. */
import { isIP } from 'node:net'
import type { V1HTTPIngressPath, V1Ingress, V1IngressBackend, V1IngressStatus } from '@kubernetes/client-node'
import type { Model, Wire } from '../../machinery/object.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, follows } from '../../machinery/validation/field-rules.ts'
import {
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  pathSegment,
  portName,
  portNumber,
  wildcardSubdomain,
} from '../../machinery/validation/names.ts'

export const classAnnotation = 'kubernetes.io/ingress.class'

const forbiddenSequences = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenSuffixes = ['/..', '/.']

/** Validates an Ingress. */
export function ingressRules({ metadata, spec }: Model<V1Ingress>): readonly FieldError[] {
  const errors: FieldError[] = []
  if (!spec?.rules?.length && !spec?.defaultBackend)
    errors.push(invalidValue('spec', spec?.rules ?? null, 'either `defaultBackend` or `rules` must be specified'))
  if (spec?.defaultBackend) errors.push(...backendRules(spec.defaultBackend, 'spec.defaultBackend'))
  spec?.rules?.forEach(({ host, http }, at) => {
    const path = `spec.rules[${at}]`
    if (host) errors.push(...hostRules(`${path}.host`, host))
    if (http && !http.paths?.length) errors.push(required(`${path}.http.paths`))
    http?.paths?.forEach((item, index) => {
      errors.push(...pathRules(item, `${path}.http.paths[${index}]`))
    })
  })
  spec?.tls?.forEach(({ hosts, secretName }, at) => {
    hosts?.forEach((host, index) => {
      errors.push(
        ...follows(host, `spec.tls[${at}].hosts[${index}]`, host.includes('*') ? wildcardSubdomain : dnsSubdomain),
      )
    })
    if (secretName) errors.push(...follows(secretName, `spec.tls[${at}].secretName`, dnsSubdomain))
  })
  if (spec?.ingressClassName !== undefined)
    errors.push(...follows(spec.ingressClassName, 'spec.ingressClassName', dnsSubdomain))
  // Compared on create only: an object without a resourceVersion is new.
  const annotated = metadata.annotations?.[classAnnotation]
  if (
    !metadata.resourceVersion &&
    annotated !== undefined &&
    spec?.ingressClassName !== undefined &&
    annotated !== spec.ingressClassName
  )
    errors.push(
      invalidValue(
        `annotations.${classAnnotation}`,
        annotated,
        'must match `ingressClassName` when both are specified',
      ),
    )
  return errors
}

function hostRules(field: string, host: string): readonly FieldError[] {
  return all(
    isIP(host) ? [invalidValue(field, host, 'must be a DNS name, not an IP address')] : [],
    follows(host, field, host.includes('*') ? wildcardSubdomain : dnsSubdomain),
  )
}

function pathRules({ path = '', pathType, backend }: Wire<V1HTTPIngressPath>, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  switch (pathType as string | undefined) {
    case undefined:
      return [required(`${field}.pathType`, 'pathType must be specified')]
    case 'Exact':
    case 'Prefix':
      if (!path.startsWith('/')) errors.push(invalidValue(`${field}.path`, path, 'must be an absolute path'))
      for (const sequence of forbiddenSequences)
        if (path.includes(sequence)) errors.push(invalidValue(`${field}.path`, path, `must not contain '${sequence}'`))
      for (const suffix of forbiddenSuffixes)
        if (path.endsWith(suffix)) errors.push(invalidValue(`${field}.path`, path, `cannot end with '${suffix}'`))
      break
    case 'ImplementationSpecific':
      if (path && !path.startsWith('/')) errors.push(invalidValue(`${field}.path`, path, 'must be an absolute path'))
      break
    default:
      errors.push(notSupported(`${field}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  }
  return all(errors, backendRules(backend ?? {}, `${field}.backend`))
}

function backendRules({ service, resource }: Wire<V1IngressBackend>, field: string): readonly FieldError[] {
  if (service && resource) return [invalidValue(field, '', 'cannot set both resource and service backends')]
  if (resource)
    return all(
      follows(resource.apiGroup, `${field}.resource.apiGroup`, dnsSubdomain),
      resource.kind
        ? follows(resource.kind, `${field}.resource.kind`, pathSegment)
        : [required(`${field}.resource.kind`)],
      resource.name
        ? follows(resource.name, `${field}.resource.name`, pathSegment)
        : [required(`${field}.resource.name`)],
    )
  if (!service) return [invalidValue(field, '', 'resource or service backend is required')]
  const errors = [
    ...(service.name ? follows(service.name, `${field}.service.name`, dnsLabel) : [required(`${field}.service.name`)]),
  ]
  const { name, number } = service.port ?? {}
  if (name && number) errors.push(invalidValue(field, '', 'cannot set both port name & port number'))
  else if (name) errors.push(...follows(name, `${field}.service.port.name`, portName))
  else if (number)
    for (const message of portNumber(number)) errors.push(invalidValue(`${field}.service.port.number`, number, message))
  if (!name && !number) errors.push(required(field, 'port name or number is required'))
  return errors
}

/** Validates the addresses of a load balancer. */
export function ingressStatusRules(status: Wire<V1IngressStatus> | undefined): readonly FieldError[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }, at) => {
    const field = `status.loadBalancer.ingress[${at}]`
    const errors: FieldError[] = []
    if (ip) errors.push(...follows(ip, `${field}.ip`, ipAddress))
    if (hostname) {
      errors.push(...follows(hostname, `${field}.hostname`, dnsSubdomain))
      if (isIP(hostname))
        errors.push(invalidValue(`${field}.hostname`, hostname, 'must be a DNS name, not an IP address'))
    }
    return errors
  })
}
