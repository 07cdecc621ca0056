/** Device classes that pods may request as extended resources (KEP-5004). */
import { type DeviceClass, deviceClasses } from '../../../../client/kinds.ts'
import type { Handle } from '../../../framework/index.ts'

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
