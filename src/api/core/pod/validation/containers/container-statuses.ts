/** Validation of container statuses: users (KEP-3619), and the health of allocated resources (KEP-4680). */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, valid } from '../../../../../machinery/validation/field-rules.ts'
import type { Container, PodSpec, PodStatus } from '../../model.ts'
import { id } from '../security.ts'

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]
type Allocated = NonNullable<ContainerStatus['allocatedResourcesStatus']>[number]

/** Validates the statuses of all containers of a pod. */
export function validateContainerStatuses(status: PodStatus | undefined, spec: PodSpec): readonly FieldError[] {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status ?? {}
  const user = ({ user }: ContainerStatus, path: string): readonly FieldError[] =>
    users(user?.linux, `${path}.user.linux`, spec.os?.name)
  return all(
    each(containerStatuses, 'status.containerStatuses', user),
    each(initContainerStatuses, 'status.initContainerStatuses', user),
    each(ephemeralContainerStatuses, 'status.ephemeralContainerStatuses', user),
    each(containerStatuses, 'status.containerStatuses', (one, at) => allocated(one, at, spec.containers)),
    each(initContainerStatuses, 'status.initContainerStatuses', (one, at) => allocated(one, at, spec.initContainers)),
    each(ephemeralContainerStatuses, 'status.ephemeralContainerStatuses', ({ allocatedResourcesStatus }, at) =>
      allocatedResourcesStatus?.length
        ? [forbiddenField(`${at}.allocatedResourcesStatus`, 'must not be specified in container status')]
        : valid,
    ),
  )
}

function users(user: NonNullable<ContainerStatus['user']>['linux'], path: string, os = 'linux'): readonly FieldError[] {
  if (!user) return valid
  if (os === 'windows') return [forbiddenField(path, 'cannot be set for a windows pod')]
  return all(
    id(user.uid, `${path}.uid`),
    id(user.gid, `${path}.gid`),
    each(user.supplementalGroups, `${path}.supplementalGroups`, id),
  )
}

/** Validates that allocated resources were requested. Statuses of unknown containers are not checked. */
function allocated(
  { name, allocatedResourcesStatus: list }: ContainerStatus,
  path: string,
  containers: readonly Container[] | undefined,
): readonly FieldError[] {
  const container = containers?.find((one) => one.name === name)
  return each(list, `${path}.allocatedResourcesStatus`, (one, at) =>
    all(container ? validateRequested(one, at, container) : valid, health(one, at)),
  )
}

function validateRequested({ name }: Allocated, path: string, { resources }: Container): readonly FieldError[] {
  const claims = resources?.claims?.map((claim) => `claim:${claim.name}${claim.request ? `/${claim.request}` : ''}`)
  if (claims?.includes(name) || (resources?.requests && Object.hasOwn(resources.requests, name))) return valid
  return [
    invalidValue(
      `${path}.name`,
      name,
      name.startsWith('claim:')
        ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or " +
            "'claim:<claimName>' if request is empty"
        : "must match one of the container's resource requests",
    ),
  ]
}

/** The maximum size of a health message, in bytes. */
const maxMessageBytes = 1024
const healths = ['Healthy', 'Unhealthy', 'Unknown']

function health({ resources }: Allocated, path: string): readonly FieldError[] {
  const isRepeated = duplicateFinder<string>()
  return each(resources, `${path}.resources`, ({ resourceID, health = '', message }, at) =>
    all(
      healths.includes(health) ? valid : [notSupported(`${at}.health`, health, healths)],
      message === '' ? [required(`${at}.message`, 'must be non-empty if specified')] : valid,
      message !== undefined && Buffer.byteLength(message) > maxMessageBytes
        ? [tooLong(`${at}.message`, maxMessageBytes)]
        : valid,
      isRepeated(resourceID) ? [duplicate(`${at}.resourceID`, resourceID)] : valid,
    ),
  )
}
