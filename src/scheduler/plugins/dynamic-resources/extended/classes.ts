/** Device classes that pods may request as extended resources (KEP-5004). */
import { type DeviceClass, deviceClasses } from '../../../../client/kinds.ts'
import type { Handle, PodInfo } from '../../../framework/index.ts'

/** Every class can be requested by this prefix and its name. */
const implicitPrefix = 'deviceclass.resource.kubernetes.io/'

/** The resource names under which pods may request the class. */
export const resourcesOfClass = ({ metadata, spec }: DeviceClass): readonly string[] => [
  `${implicitPrefix}${metadata.name}`,
  ...(spec.extendedResourceName ? [spec.extendedResourceName] : []),
]

/** Returns the class that backs a resource: the newest, then the first by name. */
export function classesByResource(handle: Pick<Handle, 'lister'>): (resource: string) => DeviceClass | undefined {
  const classes = handle.lister(deviceClasses)
  const age = ({ metadata }: DeviceClass): number => Date.parse(metadata.creationTimestamp ?? '') || 0
  const isBefore = (a: DeviceClass, b: DeviceClass): boolean =>
    age(a) > age(b) || (age(a) === age(b) && (a.metadata.name ?? '') < (b.metadata.name ?? ''))
  return (resource) => {
    let found: DeviceClass | undefined
    for (const one of classes.by(resourcesOfClass, resource)) if (!found || isBefore(one, found)) found = one
    return found
  }
}

/** The extended resources that the pod requests and a device class backs, with the name of the class. */
export function backedResources(
  { requests }: PodInfo,
  classOf: (resource: string) => DeviceClass | undefined,
): ReadonlyMap<string, string> {
  const resources = new Map<string, string>()
  for (const [name, amount] of requests.scalar) {
    const className = amount > 0 ? classOf(name)?.metadata.name : undefined
    if (className !== undefined) resources.set(name, className)
  }
  return resources
}
