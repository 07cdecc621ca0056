/** Validation of volume mounts and block devices. */
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../../../machinery/validation/field-rules.ts'
import type { Container, EphemeralContainer, Volume } from '../../model.ts'
import { descendingPath, noBacksteps } from './paths.ts'

const propagations = ['Bidirectional', 'HostToContainer', 'None']

type Mount = NonNullable<Container['volumeMounts']>[number]

/** Validates recursiveReadOnly (KEP-3857). */
function validateRecursiveReadOnly(
  { recursiveReadOnly: mode, readOnly, mountPropagation = 'None' }: Mount,
  path: string,
): readonly FieldError[] {
  if (mode === undefined || mode === 'Disabled') return valid
  if (mode !== 'Enabled' && mode !== 'IfPossible')
    return [notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible'])]
  return all(
    readOnly ? valid : [forbiddenField(path, 'may only be specified when readOnly is true')],
    mountPropagation === 'None'
      ? valid
      : [forbiddenField(path, 'may only be specified when mountPropagation is None or not specified')],
  )
}

/** Validates `volumeMounts`. Upstream's paths for sub-paths and propagation omit the index. */
export function volumeMounts(
  container: Container | EphemeralContainer,
  path: string,
  known: ReadonlyMap<string, Volume>,
): readonly FieldError[] {
  const { volumeMounts: mounts, volumeDevices: devices = [] } = container
  if (!mounts) return valid
  const errors: FieldError[] = []
  const taken = new Set<string>()
  const deviceNames = new Set(devices.map(({ name }) => name))
  const devicePaths = new Set(devices.map(({ devicePath }) => devicePath))
  mounts.forEach((mount, i) => {
    const { name, mountPath, subPath, subPathExpr, mountPropagation } = mount
    const at = `${path}[${i}]`
    if (!name) errors.push(required(`${at}.name`))
    if (!known.has(name)) errors.push(notFoundValue(`${at}.name`, name ?? ''))
    if (!mountPath) errors.push(required(`${at}.mountPath`))
    if (taken.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must be unique'))
    taken.add(mountPath)
    if (deviceNames.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath))
      errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
    if (subPath) errors.push(...descendingPath(subPath, `${path}.subPath`))
    if (subPathExpr) {
      if (subPath)
        errors.push(invalidValue(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
      errors.push(...descendingPath(subPathExpr, `${path}.subPathExpr`))
    }
    if (mountPropagation) {
      if (!propagations.includes(mountPropagation))
        errors.push(notSupported(`${path}.mountPropagation`, mountPropagation, propagations))
      if (mountPropagation === 'Bidirectional' && !container.securityContext?.privileged)
        errors.push(
          forbiddenField(
            `${path}.mountPropagation`,
            'Bidirectional mount propagation is available only to privileged containers',
          ),
        )
    }
    errors.push(...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`))
  })
  return errors
}

/** Validates `volumeDevices`. */
export function volumeDevices(
  { volumeDevices: devices, volumeMounts: mounts = [] }: Container | EphemeralContainer,
  path: string,
  known: ReadonlyMap<string, Volume>,
): readonly FieldError[] {
  if (!devices) return valid
  const errors: FieldError[] = []
  const names = new Set<string>()
  const paths = new Set<string>()
  const mountNames = new Set(mounts.map((mount) => mount.name))
  const mountPaths = new Set(mounts.map(({ mountPath }) => mountPath))
  devices.forEach(({ name, devicePath }, i) => {
    const at = `${path}[${i}]`
    const volume = known.get(name)
    if (!name) errors.push(required(`${at}.name`))
    if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must be unique'))
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(
        invalidValue(
          `${at}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      )
    if (!volume) errors.push(notFoundValue(`${at}.name`, name ?? ''))
    if (!devicePath) errors.push(required(`${at}.devicePath`))
    if (paths.has(devicePath)) errors.push(invalidValue(`${at}.devicePath`, devicePath, 'must be unique'))
    if (devicePath && noBacksteps(devicePath, at).length > 0)
      errors.push(invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"))
    else paths.add(devicePath)
    if (mountNames.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath))
      errors.push(invalidValue(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'))
    if (name) names.add(name)
  })
  return errors
}
