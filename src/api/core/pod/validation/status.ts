/** Validation of writes to `/status` of a pod. */
import { isIPv6 } from 'node:net'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../../../../machinery/validation/field-error.ts'
import {
  all,
  duplicateFinder,
  each,
  follows,
  requiredRule,
  valid,
} from '../../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain, ipAddress, qualifiedName } from '../../../../machinery/validation/names.ts'
import type { Container, EphemeralContainer, Pod, PodSpec, PodStatus } from '../model.ts'
import { podAnnotations, podAnnotationsUpdate } from './annotations.ts'
import { validateContainerStatuses } from './containers/container-statuses.ts'

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])
const generation = (value = 0, path: string): readonly FieldError[] =>
  value < 0 ? [invalidValue(`${path}.observedGeneration`, value, 'must be a non-negative integer')] : valid

export function podStatusUpdate(
  { metadata, spec, status }: Pod,
  { metadata: { annotations }, spec: oldSpec, status: old }: Pod,
): readonly FieldError[] {
  const pod = oldSpec ?? { containers: [] }
  return all(
    podAnnotationsUpdate(metadata.annotations, annotations, 'metadata.annotations'),
    podAnnotations(metadata.annotations, spec ?? pod, 'metadata.annotations'),
    each(status?.conditions, 'status.conditions', ({ type, observedGeneration }, at) =>
      all(
        generation(observedGeneration, at),
        ownConditions.has(type) ? valid : follows(type, `${at}.Type`, qualifiedName),
      ),
    ),
    status?.nominatedNodeName && status.nominatedNodeName !== old?.nominatedNodeName
      ? all(
          follows(status.nominatedNodeName, 'status.nominatedNodeName', dnsSubdomain),
          pod.nodeName
            ? [forbiddenField('status.nominatedNodeName', 'may not be set on pods that are already bound to a node')]
            : valid,
        )
      : valid,
    generation(status?.observedGeneration, 'status'),
    status?.qosClass !== old?.qosClass && old?.qosClass
      ? [invalidValue('status.qosClass', status?.qosClass ?? '', 'field is immutable')]
      : valid,
    validateStaysTerminated(
      status?.containerStatuses,
      old?.containerStatuses,
      'status.containerStatuses',
      pod,
      pod.containers,
    ),
    validateStaysTerminated(
      status?.initContainerStatuses,
      old?.initContainerStatuses,
      'status.initContainerStatuses',
      pod,
      pod.initContainers,
    ),
    validateStaysTerminated(
      status?.ephemeralContainerStatuses,
      old?.ephemeralContainerStatuses,
      'status.ephemeralContainerStatuses',
      { restartPolicy: 'Never' },
    ),
    claimStatuses(status, pod),
    extendedClaim(status?.extendedResourceClaimStatus, pod),
    podAddresses(status),
    hostAddresses(status),
    validateContainerStatuses(status, spec ?? pod),
  )
}

/** A terminated container that is not restarted must stay terminated, unless a rule restarts all containers. */
function validateStaysTerminated(
  statuses: readonly ContainerStatus[] | undefined,
  before: readonly ContainerStatus[] | undefined,
  path: string,
  pod: Pick<PodSpec, 'restartPolicy'>,
  containers?: readonly (Container | EphemeralContainer)[],
): readonly FieldError[] {
  if (!before?.length || containers?.some(restartsAll)) return valid
  return each(before, path, ({ name, state }, at) => {
    if (!state?.terminated) return valid
    const container = containers?.find((one) => one.name === name)
    if (isRestarted(container, state.terminated.exitCode, pod.restartPolicy)) return valid
    return (statuses ?? []).flatMap((status) =>
      status.name === name && !status.state?.terminated
        ? [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')]
        : valid,
    )
  })
}

const restartsAll = ({ restartPolicyRules: rules }: Container | EphemeralContainer): boolean =>
  rules?.some(({ action }) => action === 'RestartAllContainers') ?? false

function isRestarted(
  container: Container | EphemeralContainer | undefined,
  exitCode: number,
  ofPod: string | undefined,
): boolean {
  if (!container) return false
  for (const { exitCodes } of container.restartPolicyRules ?? [])
    if (exitCodes && (exitCodes.values ?? []).includes(exitCode) === (exitCodes.operator === 'In')) return true
  const policy = container.restartPolicy ?? ofPod
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

function claimStatuses(status: PodStatus | undefined, { resourceClaims = [] }: PodSpec): readonly FieldError[] {
  if (!status?.resourceClaimStatuses?.length) return valid
  const isRepeated = duplicateFinder<string>()
  return each(status.resourceClaimStatuses, 'status.resourceClaimStatuses', ({ name, resourceClaimName }, at) =>
    all(
      resourceClaims.some((claim) => claim.name === name)
        ? valid
        : [invalidValue(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`')],
      isRepeated(name) ? [duplicate(`${at}.name`, name)] : valid,
      follows(resourceClaimName, `${at}.resourceClaimName`, dnsSubdomain),
    ),
  )
}

/**
 * Validates extendedResourceClaimStatus (KEP-5004), which maps requests of a claim to extended resources of containers.
 */
function extendedClaim(
  claim: PodStatus['extendedResourceClaimStatus'],
  { initContainers, containers }: PodSpec,
): readonly FieldError[] {
  if (!claim) return valid
  const path = 'status.extendedResourceClaimStatus'
  const known = new Map(
    [...(initContainers ?? []), ...(containers ?? [])].map((container) => [container.name, container]),
  )
  const { requestMappings: mappings, resourceClaimName } = claim
  const isRepeated = duplicateFinder<string>()
  return all(
    mappings?.length ? valid : [required(`${path}.requestMappings`, 'at least one request mapping is required')],
    each(mappings, `${path}.requestMappings`, ({ containerName, resourceName, requestName }, at) => {
      const container = known.get(containerName)
      return all(
        !container
          ? [
              invalidValue(
                `${at}.containerName`,
                containerName,
                'must match the name of an entry in spec.initContainers.name or spec.containers.name',
              ),
            ]
          : Object.hasOwn(container.resources?.requests ?? {}, resourceName)
            ? valid
            : [invalidValue(`${at}.resourceName`, resourceName, unrequested)],
        // Upstream's path omits the mapping.
        follows(requestName, `${path}.requestName`, dnsLabel),
        isRepeated(JSON.stringify([containerName, resourceName, requestName]))
          ? [
              duplicate(`${at}.containerName`, containerName),
              duplicate(`${at}.resourceName`, resourceName),
              duplicate(`${at}.requestName`, requestName),
            ]
          : valid,
      )
    }),
    requiredRule(resourceClaimName, `${path}.resourceClaimName`, dnsSubdomain),
  )
}

const unrequested =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or ' +
  'spec.containers.resources.requests'

type Addresses = readonly { readonly ip: string }[]

const oneOfEachFamily = (list: Addresses, path: string): readonly FieldError[] =>
  list.length > 2 || (list.length === 2 && isIPv6(list[0]?.ip ?? '') === isIPv6(list[1]?.ip ?? ''))
    ? [invalidValue(path, list, 'may specify no more than one IP for each IP family')]
    : valid

const addresses = (list: Addresses, path: string): readonly FieldError[] =>
  each(list, path, ({ ip }, at) => follows(ip ?? '', at, ipAddress))

function podAddresses(status: PodStatus | undefined): readonly FieldError[] {
  const list = status?.podIPs as Addresses | undefined
  if (!list?.length) return valid
  return all(addresses(list, 'status.podIPs'), oneOfEachFamily(list, 'status.podIPs'))
}

function hostAddresses(status: PodStatus | undefined): readonly FieldError[] {
  const list = status?.hostIPs as Addresses | undefined
  if (!list?.length) return valid
  const [first] = list
  return all(
    first && status?.hostIP !== first.ip
      ? [invalidValue('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`')]
      : valid,
    addresses(list, 'status.hostIPs'),
    oneOfEachFamily(list, 'status.hostIPs'),
  )
}
