/** Rules for a pod's containers: those that run, those that run before, and those for debugging. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  follows,
  port as portNumber,
  requiredRule,
  valid,
} from '../../../../../machinery/validation/field-rules.ts'
import { dnsLabel, portName } from '../../../../../machinery/validation/names.ts'
import {
  type Container,
  type ContainerPort,
  type EphemeralContainer,
  isSidecar,
  type PodSpec,
  type Volume,
} from '../../model.ts'
import { containerSecurity } from '../security.ts'
import { volumeDevices, volumeMounts } from '../volumes/mounts.ts'
import { environment, environmentFrom } from './environment.ts'
import { containerHandlers } from './handlers.ts'
import { resourceRequirements } from './resources.ts'
import { containerRestarts, resizePolicies } from './restarts.ts'

const messagePolicies = ['File', 'FallbackToLogsOnError']
const pullPolicies = ['Always', 'IfNotPresent', 'Never']
export const protocols = ['SCTP', 'TCP', 'UDP']

/** What of a pod its containers' rules look at. */
export interface Surroundings {
  readonly volumes: ReadonlyMap<string, Volume>
  /** Names of the pod's claims. */
  readonly claims: ReadonlySet<string>
  readonly restartPolicy: string | undefined
  /** True unless the pod has users of its own. */
  readonly hostUsers: boolean
}

function ports(list: readonly ContainerPort[] | undefined, path: string): readonly FieldError[] {
  const names = new Set<string>()
  return each(list, path, ({ name, containerPort, hostPort, protocol }, at) => {
    const found: FieldError[] = []
    if (name) {
      const wrong = follows(name, `${at}.name`, portName)
      found.push(...wrong)
      if (wrong.length === 0) {
        if (names.has(name)) found.push(duplicate(`${at}.name`, name))
        names.add(name)
      }
    }
    if (!containerPort) found.push(required(`${at}.containerPort`))
    else found.push(...portNumber(containerPort, `${at}.containerPort`))
    if (hostPort) found.push(...portNumber(hostPort, `${at}.hostPort`))
    if (!protocol) found.push(required(`${at}.protocol`))
    else if (!protocols.includes(protocol)) found.push(notSupported(`${at}.protocol`, protocol, protocols))
    return found
  })
}

/** Ports of the node that two containers want. */
function hostPortConflicts(containers: readonly Container[], path: (i: number) => string): readonly FieldError[] {
  const taken = new Set<string>()
  const errors: FieldError[] = []
  containers.forEach(({ ports }, i) => {
    ports?.forEach(({ hostPort, hostIP = '', protocol }, j) => {
      if (!hostPort) return
      const key = `${protocol}/${hostIP}/${hostPort}`
      if (taken.has(key)) errors.push(duplicate(`${path(i)}.ports[${j}].hostPort`, key))
      taken.add(key)
    })
  })
  return errors
}

/** What holds for all containers, in upstream's order. */
function common(container: Container | EphemeralContainer, path: string, around: Surroundings): readonly FieldError[] {
  const { name, image, terminationMessagePolicy, imagePullPolicy } = container
  return all(
    requiredRule(name, `${path}.name`, dnsLabel),
    image ? valid : [required(`${path}.image`)],
    !terminationMessagePolicy
      ? [required(`${path}.terminationMessagePolicy`)]
      : messagePolicies.includes(terminationMessagePolicy)
        ? valid
        : [notSupported(`${path}.terminationMessagePolicy`, terminationMessagePolicy, messagePolicies)],
    ports(container.ports, `${path}.ports`),
    environment(container.env, `${path}.env`),
    environmentFrom(container.envFrom, `${path}.envFrom`),
    volumeMounts(container, `${path}.volumeMounts`, around.volumes),
    volumeDevices(container, `${path}.volumeDevices`, around.volumes),
    !imagePullPolicy
      ? [required(`${path}.imagePullPolicy`)]
      : pullPolicies.includes(imagePullPolicy)
        ? valid
        : [notSupported(`${path}.imagePullPolicy`, imagePullPolicy, pullPolicies)],
    container.resources ? resourceRequirements(container.resources, `${path}.resources`, around.claims) : valid,
    resizePolicies(container.resizePolicy, `${path}.resizePolicy`, around.restartPolicy),
    containerSecurity(container.securityContext, `${path}.securityContext`, around.hostUsers),
  )
}

/** The image of a pod has no spaces around it; that of a template may. */
export const trimmedImage = ({ image = '' }: Container | EphemeralContainer, path: string): readonly FieldError[] =>
  image.trim() === image
    ? valid
    : [invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace')]

/** `containers`. */
export function containers(spec: PodSpec, path: string, around: Surroundings): readonly FieldError[] {
  const { containers: list } = spec
  if (!list?.length) return [required(path)]
  const names = new Set<string>()
  const errors = each(list, path, (container, at) => {
    const twice = names.has(container.name ?? '') ? [duplicate(`${at}.name`, container.name ?? '')] : valid
    names.add(container.name ?? '')
    return all(
      common(container, at, around),
      twice,
      containerHandlers(container, at, spec),
      containerRestarts(container, at),
    )
  })
  return all(
    errors,
    hostPortConflicts(list, (i) => `${path}[${i}]`),
  )
}

/** What runs once is not started again when it is resized. */
const neverRestarted = (
  { restartPolicy }: NonNullable<Container['resizePolicy']>[number],
  path: string,
): readonly FieldError[] =>
  restartPolicy === 'RestartContainer'
    ? [
        invalidValue(
          `${path}.restartPolicy`,
          restartPolicy,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      ]
    : valid

const notForInit = 'may not be set for init containers without restartPolicy=Always'

/** `initContainers`: only sidecars have hooks and probes. */
export function initContainers(spec: PodSpec, path: string, around: Surroundings): readonly FieldError[] {
  const { containers: others, initContainers: list } = spec
  if (!list?.length) return valid
  const names = new Set((others ?? []).map(({ name }) => name ?? ''))
  return list.flatMap((container, i) => {
    const at = `${path}[${i}]`
    const errors = [...common(container, at, around), ...containerRestarts(container, at)]
    if (names.has(container.name ?? '')) errors.push(duplicate(`${at}.name`, container.name ?? ''))
    if (container.name) names.add(container.name)
    // Upstream names the first container, whichever it is.
    errors.push(...hostPortConflicts([container], () => `${path}[0]`))
    if (isSidecar(container)) errors.push(...containerHandlers(container, at, spec))
    else
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
        if (container[field]) errors.push(forbiddenField(`${at}.${field}`, notForInit))
    if (!isSidecar(container)) errors.push(...each(container.resizePolicy, `${at}.resizePolicy`, neverRestarted))
    return errors
  })
}

/** In the order of the fields of a container. */
const notForDebugging = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const
const debuggingWords = 'cannot be set for an Ephemeral Container'

/** Whether a field says something: lists and `resources` may be there without anything in them. */
function isGiven(container: EphemeralContainer, field: (typeof notForDebugging)[number]): boolean {
  const value = container[field]
  return typeof value === 'object' && (field === 'resources' || Array.isArray(value))
    ? Object.keys(value).length > 0
    : Boolean(value)
}

/** `ephemeralContainers`: what only long-lived containers have is refused. */
export function ephemeralContainers(
  { ephemeralContainers: list, containers: others, initContainers: before }: PodSpec,
  path: string,
  around: Surroundings,
): readonly FieldError[] {
  if (!list?.length) return valid
  const targets = new Set([...(others ?? []), ...(before ?? [])].map(({ name }) => name))
  const names = new Set(targets)
  return list.flatMap((container, i) => {
    const at = `${path}[${i}]`
    // Of these even a valid one is refused: it is not looked into.
    const { ports: _ports, resources: _resources, ...rest } = container
    const errors = [...common(rest, at, around), ...trimmedImage(container, at)]
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name))
    names.add(container.name)
    if (container.targetContainerName && !targets.has(container.targetContainerName))
      errors.push(notFoundValue(`${at}.targetContainerName`, container.targetContainerName))
    for (const field of notForDebugging)
      if (isGiven(container, field)) errors.push(forbiddenField(`${at}.${field}`, debuggingWords))
    container.volumeMounts?.forEach(({ subPath, subPathExpr }, j) => {
      if (subPath) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPath`, debuggingWords))
      if (subPathExpr) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPathExpr`, debuggingWords))
    })
    return errors
  })
}

/**
 * On the host's network a container's port is the host's; a template may leave that to its pods. Init containers are
 * not looked at.
 */
export function hostNetworkPorts(
  { hostNetwork, containers }: PodSpec,
  path: string,
  isTemplate: boolean,
): readonly FieldError[] {
  if (!hostNetwork) return valid
  return each(containers, `${path}.containers`, ({ ports }, at) =>
    each(ports, `${at}.ports`, ({ hostPort = 0, containerPort }, port) =>
      hostPort === containerPort || (isTemplate && hostPort === 0)
        ? valid
        : [invalidValue(`${port}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')],
    ),
  )
}
