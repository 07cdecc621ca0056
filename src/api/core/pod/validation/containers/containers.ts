/** Validation of a pod's containers, init containers and ephemeral containers. */
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

/** Fields of the pod that the validation of its containers reads. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, Volume>
  /** Names of the pod's claims. */
  readonly claims: ReadonlySet<string>
  readonly restartPolicy: string | undefined
  /** False if the pod has its own user namespace. */
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

/** Reports host ports that two containers use. */
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

/** Validates fields that all containers have, in upstream's order. */
function validateCommon(
  container: Container | EphemeralContainer,
  path: string,
  podContext: PodContext,
): readonly FieldError[] {
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
    volumeMounts(container, `${path}.volumeMounts`, podContext.volumes),
    volumeDevices(container, `${path}.volumeDevices`, podContext.volumes),
    !imagePullPolicy
      ? [required(`${path}.imagePullPolicy`)]
      : pullPolicies.includes(imagePullPolicy)
        ? valid
        : [notSupported(`${path}.imagePullPolicy`, imagePullPolicy, pullPolicies)],
    container.resources ? resourceRequirements(container.resources, `${path}.resources`, podContext.claims) : valid,
    resizePolicies(container.resizePolicy, `${path}.resizePolicy`, podContext.restartPolicy),
    containerSecurity(container.securityContext, `${path}.securityContext`, podContext.hostUsers),
  )
}

/** Rejects spaces around the image. Templates may have them. */
export const trimmedImage = ({ image = '' }: Container | EphemeralContainer, path: string): readonly FieldError[] =>
  image.trim() === image
    ? valid
    : [invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace')]

/** Validates `containers`. */
export function containers(spec: PodSpec, path: string, podContext: PodContext): readonly FieldError[] {
  const { containers: list } = spec
  if (!list?.length) return [required(path)]
  const names = new Set<string>()
  const errors = each(list, path, (container, at) => {
    const twice = names.has(container.name ?? '') ? [duplicate(`${at}.name`, container.name ?? '')] : valid
    names.add(container.name ?? '')
    return all(
      validateCommon(container, at, podContext),
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

/** Rejects RestartContainer: an init container runs once. */
const rejectRestartPolicy = (
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

/** Validates `initContainers`: only sidecars may have hooks and probes. */
export function initContainers(spec: PodSpec, path: string, podContext: PodContext): readonly FieldError[] {
  const { containers: others, initContainers: list } = spec
  if (!list?.length) return valid
  const names = new Set((others ?? []).map(({ name }) => name ?? ''))
  return list.flatMap((container, i) => {
    const at = `${path}[${i}]`
    const errors = [...validateCommon(container, at, podContext), ...containerRestarts(container, at)]
    if (names.has(container.name ?? '')) errors.push(duplicate(`${at}.name`, container.name ?? ''))
    if (container.name) names.add(container.name)
    // Upstream always reports the first container.
    errors.push(...hostPortConflicts([container], () => `${path}[0]`))
    if (isSidecar(container)) errors.push(...containerHandlers(container, at, spec))
    else
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const)
        if (container[field]) errors.push(forbiddenField(`${at}.${field}`, notForInit))
    if (!isSidecar(container)) errors.push(...each(container.resizePolicy, `${at}.resizePolicy`, rejectRestartPolicy))
    return errors
  })
}

/** In the order of a container's fields. */
const notForEphemeral = [
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
const notForEphemeralMessage = 'cannot be set for an Ephemeral Container'

/** Returns true if a field is set. Empty lists and empty `resources` count as unset. */
function isFieldSet(container: EphemeralContainer, field: (typeof notForEphemeral)[number]): boolean {
  const value = container[field]
  return typeof value === 'object' && (field === 'resources' || Array.isArray(value))
    ? Object.keys(value).length > 0
    : Boolean(value)
}

/** Validates `ephemeralContainers`: rejects fields of long-lived containers. */
export function ephemeralContainers(
  { ephemeralContainers: list, containers: others, initContainers: before }: PodSpec,
  path: string,
  podContext: PodContext,
): readonly FieldError[] {
  if (!list?.length) return valid
  const targets = new Set([...(others ?? []), ...(before ?? [])].map(({ name }) => name))
  const names = new Set(targets)
  return list.flatMap((container, i) => {
    const at = `${path}[${i}]`
    // Rejected even if valid, so they are not validated.
    const { ports: _ports, resources: _resources, ...rest } = container
    const errors = [...validateCommon(rest, at, podContext), ...trimmedImage(container, at)]
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name))
    names.add(container.name)
    if (container.targetContainerName && !targets.has(container.targetContainerName))
      errors.push(notFoundValue(`${at}.targetContainerName`, container.targetContainerName))
    for (const field of notForEphemeral)
      if (isFieldSet(container, field)) errors.push(forbiddenField(`${at}.${field}`, notForEphemeralMessage))
    container.volumeMounts?.forEach(({ subPath, subPathExpr }, j) => {
      if (subPath) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPath`, notForEphemeralMessage))
      if (subPathExpr) errors.push(forbiddenField(`${at}.volumeMounts[${j}].subPathExpr`, notForEphemeralMessage))
    })
    return errors
  })
}

/**
 * With hostNetwork, requires that hostPort equals containerPort; templates may omit it, since pods get it by default.
 * Does not validate init containers.
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
