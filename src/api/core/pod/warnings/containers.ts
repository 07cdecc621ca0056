/** Warnings about containers: environment, ports, resources, and annotations that were replaced by fields. */
import { canonicalQuantity, milliValue } from '../../../../machinery/values/quantity.ts'
import type { Container, ContainerPort, EphemeralContainer, PodSpec } from '../model.ts'

/** Warns of fractional bytes: `100m` of memory is usually a typo for `100M`. */
export function fractionalBytes(list: Readonly<Record<string, string>> | undefined, path: string): string[] {
  if (!list) return []
  const warnings: string[] = []
  for (const name of ['memory', 'ephemeral-storage']) {
    const amount = list[name]
    if (amount !== undefined) warnings.push(...fractionalAmount(amount, `${path}[${name}]`))
  }
  return warnings
}

/** Like `fractionalBytes`, for one amount. */
export const fractionalAmount = (amount: string | undefined, path: string): string[] =>
  amount !== undefined && milliValue(amount) % 1000n !== 0n
    ? [`${path}: fractional byte value ${JSON.stringify(canonicalQuantity(amount))} is invalid, must be an integer`]
    : []

const fields = ['initContainers', 'containers', 'ephemeralContainers'] as const

function visit(
  spec: PodSpec,
  path: string,
  callback: (container: Container | EphemeralContainer, path: string) => void,
): void {
  for (const field of fields) {
    const list: readonly (Container | EphemeralContainer)[] | undefined = spec[field]
    if (list)
      for (let i = 0; i < list.length; i++)
        callback(list[i] as Container | EphemeralContainer, `${path}.${field}[${i}]`)
  }
}

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const useSeccompField = 'non-functional in v1.27+; use the "seccompProfile" field instead'

/**
 * Returns warnings about single containers. For pods, whose `prefix` is empty, `app-armor.ts` warns of AppArmor
 * annotations.
 */
export function containerWarnings(
  spec: PodSpec,
  annotations: Readonly<Record<string, string>> | undefined,
  prefix: string,
): string[] {
  const warnings: string[] = []
  const annotated = (key: string): boolean => annotations !== undefined && Object.hasOwn(annotations, key)
  if (!spec.securityContext?.seccompProfile && annotated(podSeccomp))
    warnings.push(`${prefix}metadata.annotations[${podSeccomp}]: ${useSeccompField}`)
  visit(spec, `${prefix}spec`, (container, path) => {
    const { name, securityContext, resources, env } = container
    if (!securityContext?.seccompProfile && annotated(containerSeccomp + name))
      warnings.push(`${prefix}metadata.annotations[${containerSeccomp}${name}]: ${useSeccompField}`)
    if (
      prefix &&
      !spec.securityContext?.appArmorProfile &&
      !securityContext?.appArmorProfile &&
      annotated(appArmor + name)
    )
      warnings.push(
        `${prefix}metadata.annotations[${appArmor}${name}]: deprecated since v1.30; use the "appArmorProfile" ` +
          'field instead',
      )
    if (resources) {
      warnings.push(
        ...fractionalBytes(resources.limits, `${path}.resources.limits`),
        ...fractionalBytes(resources.requests, `${path}.resources.requests`),
      )
    }
    if (env && env.length > 1) warnings.push(...hiddenVariables(env, `${path}.env`))
  })
  return warnings
}

/** Warns of variables that are defined twice, except to extend the first value. */
function hiddenVariables(variables: NonNullable<Container['env']>, path: string): string[] {
  const seen = new Set<string>()
  return variables.flatMap(({ name, value = '', valueFrom }, i) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const reference = `$(${name})`
    const isExtended = !valueFrom && value !== reference && value.includes(reference)
    return isExtended
      ? []
      : [`${path}[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`]
  })
}

interface Seen {
  readonly path: string
  readonly port: ContainerPort
}

/** Warns of duplicate ports and port names, in one container or in several. */
export function portWarnings(spec: PodSpec, path: string): string[] {
  const warnings: string[] = []
  const seen = new Map<string, Seen[]>()
  const names = new Map<string, string>()
  const named: string[] = []
  visit(spec, path, ({ ports }, at) => {
    ports?.forEach((port, i) => {
      const fieldPath = `${at}.ports[${i}]`
      if (port.hostIP && !port.hostPort) warnings.push(`${fieldPath}: hostIP set without hostPort: ${portText(port)}`)
      const key = `${port.containerPort}/${port.protocol}`
      const others = seen.get(key)
      for (const other of others ?? []) {
        const kind = conflict(port, other.port)
        if (kind) warnings.push(`${fieldPath}: ${kind} port definition with ${other.path}`)
      }
      if (others) others.push({ path: fieldPath, port })
      else seen.set(key, [{ path: fieldPath, port }])
      if (!port.name) return
      const first = names.get(port.name)
      if (first === undefined) names.set(port.name, fieldPath)
      else
        named.push(
          `${fieldPath}: duplicate port name ${JSON.stringify(port.name)} with ${first}, services and probes that ` +
            `select ports by name will use ${first}`,
        )
    })
  })
  return [...warnings, ...named]
}

/** Returns how two definitions of one port and protocol conflict, or undefined. */
function conflict(port: ContainerPort, other: ContainerPort): string | undefined {
  const [ip, otherIp] = [port.hostIP ?? '', other.hostIP ?? '']
  const [host, otherHost] = [port.hostPort ?? 0, other.hostPort ?? 0]
  if (ip === otherIp && host === otherHost) return 'duplicate'
  if (host === 0 || otherHost === 0) return 'overlapping'
  return host === otherHost && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined
}

/** Formats a port as Go does. */
const portText = ({ name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' }: ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
