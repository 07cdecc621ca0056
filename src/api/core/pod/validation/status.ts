/** What a write through `/status` may not say of a pod. */
import { isIPv6 } from 'node:net'
import { duplicate, type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, each, follows, repeats, valid } from '../../../../machinery/validation/field-rules.ts'
import { dnsSubdomain, ipAddress, qualifiedName } from '../../../../machinery/validation/names.ts'
import type { Container, EphemeralContainer, Pod, PodSpec, PodStatus } from '../model.ts'
import { isSidecar } from '../model.ts'
import { podAnnotations, podAnnotationsUpdate } from './annotations.ts'
import { whatContainersTell } from './containers/container-statuses.ts'

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])

export function podStatusUpdate({ metadata, spec, status }: Pod, { metadata: { annotations }, spec: oldSpec, status: old }: Pod): readonly FieldError[] {
  const pod = oldSpec ?? { containers: [] }
  return all(
    podAnnotationsUpdate(metadata.annotations, annotations, 'metadata.annotations'),
    podAnnotations(metadata.annotations, spec ?? pod, 'metadata.annotations'),
    // Upstream's path.
    each(status?.conditions, 'metadata.conditions', ({ type, observedGeneration = 0 }, at) =>
      all(
        observedGeneration < 0 ? [invalidValue(`${at}.observedGeneration`, observedGeneration, 'must be a non-negative integer')] : valid,
        ownConditions.has(type) ? valid : follows(type, `${at}.Type`, qualifiedName),
      ),
    ),
    status?.nominatedNodeName && status.nominatedNodeName !== old?.nominatedNodeName
      ? follows(status.nominatedNodeName, 'status.nominatedNodeName', dnsSubdomain)
      : valid,
    status?.qosClass !== old?.qosClass && old?.qosClass ? [invalidValue('status.qosClass', status?.qosClass ?? '', 'field is immutable')] : valid,
    stayEnded(status?.containerStatuses, old?.containerStatuses, 'status.containerStatuses', pod, pod.containers),
    stayEnded(status?.initContainerStatuses, old?.initContainerStatuses, 'status.initContainerStatuses', pod, pod.initContainers),
    stayEnded(status?.ephemeralContainerStatuses, old?.ephemeralContainerStatuses, 'status.ephemeralContainerStatuses', { restartPolicy: 'Never' }),
    claimStatuses(status, pod),
    podAddresses(status),
    hostAddresses(status),
    whatContainersTell(status, spec ?? pod),
  )
}

/** A container that has ended and is not restarted has ended for good. */
function stayEnded(
  statuses: readonly ContainerStatus[] | undefined,
  before: readonly ContainerStatus[] | undefined,
  path: string,
  pod: Pick<PodSpec, 'restartPolicy'>,
  containers?: readonly (Container | EphemeralContainer)[],
): readonly FieldError[] {
  if (!before?.length || pod.restartPolicy === 'Always') return valid
  return each(before, path, ({ name, state }, at) => {
    if (!state?.terminated) return valid
    const container = containers?.find((one) => one.name === name)
    if (isRestarted(container, state.terminated.exitCode, pod.restartPolicy)) return valid
    return (statuses ?? []).flatMap((status) =>
      status.name === name && !status.state?.terminated ? [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')] : valid,
    )
  })
}

function isRestarted(container: Container | EphemeralContainer | undefined, exitCode: number, ofPod: string | undefined): boolean {
  if (isSidecar(container)) return true
  for (const { exitCodes } of container?.restartPolicyRules ?? [])
    if (exitCodes && (exitCodes.values ?? []).includes(exitCode) === (exitCodes.operator === 'In')) return true
  return (container?.restartPolicy ?? ofPod) === 'OnFailure' && exitCode !== 0
}

function claimStatuses(status: PodStatus | undefined, { resourceClaims = [] }: PodSpec): readonly FieldError[] {
  if (!status?.resourceClaimStatuses?.length) return valid
  const isRepeated = repeats<string>()
  return each(status.resourceClaimStatuses, 'status.resourceClaimStatuses', ({ name, resourceClaimName }, at) =>
    all(
      resourceClaims.some((claim) => claim.name === name)
        ? valid
        : [invalidValue(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`')],
      isRepeated(name) ? [duplicate(`${at}.name`, name)] : valid,
      follows(resourceClaimName, `${at}.name`, dnsSubdomain),
    ),
  )
}

type Addresses = readonly { readonly ip: string }[]

const oneOfEachFamily = (list: Addresses, path: string): readonly FieldError[] =>
  list.length > 2 || (list.length === 2 && isIPv6(list[0]?.ip ?? '') === isIPv6(list[1]?.ip ?? ''))
    ? [invalidValue(path, list, 'may specify no more than one IP for each IP family')]
    : valid

function noneTwice(list: Addresses, path: string): readonly FieldError[] {
  const isRepeated = repeats<string>()
  return list.length > 1 ? each(list, path, (address, at) => (isRepeated(address.ip) ? [duplicate(at, address)] : valid)) : valid
}

const addresses = (list: Addresses, path: string): readonly FieldError[] => each(list, path, ({ ip }, at) => follows(ip ?? '', at, ipAddress))

function podAddresses(status: PodStatus | undefined): readonly FieldError[] {
  const list = status?.podIPs as Addresses | undefined
  if (!list?.length) return valid
  return all(addresses(list, 'status.podIPs'), oneOfEachFamily(list, 'status.podIPs'), noneTwice(list, 'status.podIPs'))
}

function hostAddresses(status: PodStatus | undefined): readonly FieldError[] {
  const list = status?.hostIPs as Addresses | undefined
  if (!list?.length) return valid
  const [first] = list
  return all(
    first && status?.hostIP !== first.ip ? [invalidValue('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`')] : valid,
    addresses(list, 'status.hostIPs'),
    noneTwice(list, 'status.hostIPs'),
    oneOfEachFamily(list, 'status.hostIPs'),
  )
}
