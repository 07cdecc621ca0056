/** The rules of valid spec files, with the messages of CDI's own library. */
import { hookNames } from '../../oci-spec.ts'
import type { CdiDevice, CdiHook, CdiSpec, ContainerEdits, DeviceNode } from './cdi-spec.ts'
import { isDeviceName, isKind } from './device-names.ts'
import { validateVersion } from './spec-version.ts'

/** Throws an Error. */
export function validateSpec(spec: CdiSpec): void {
  validateVersion(spec)
  const { kind, devices, containerEdits } = spec
  if (!isKind(kind)) throw new Error(`invalid kind ${JSON.stringify(kind)}: it must be like vendor.com/class`)
  validateEdits(containerEdits)
  if (devices.length === 0) throw new Error('invalid spec, no devices')
  const names = new Set<string>()
  for (const device of devices) {
    validateDevice(device)
    if (names.has(device.name)) throw new Error(`invalid spec, multiple device ${JSON.stringify(device.name)}`)
    names.add(device.name)
  }
}

function validateDevice({ name, containerEdits }: CdiDevice): void {
  if (!isDeviceName(name)) throw new Error(`invalid device name ${JSON.stringify(name)}`)
  if (isEmpty(containerEdits)) throw new Error(`invalid device ${JSON.stringify(name)}, empty device edits`)
  validateEdits(containerEdits)
}

const isEmpty = ({ intelRdt, ...lists }: ContainerEdits): boolean =>
  intelRdt === undefined && Object.values(lists).every(({ length }) => length === 0)

function validateEdits({ env, deviceNodes, hooks, mounts, netDevices }: ContainerEdits): void {
  validateVariables(env)
  deviceNodes.forEach(validateNode)
  hooks.forEach(validateHook)
  for (const { hostPath, containerPath } of mounts) {
    if (hostPath === '') throw new Error('invalid mount, empty host path')
    if (containerPath === '') throw new Error('invalid mount, empty container path')
  }
  for (const { hostInterfaceName, name } of netDevices)
    if (hostInterfaceName === '' || name === '') throw new Error('invalid linux net device, empty name')
}

function validateVariables(env: readonly string[]): void {
  const invalid = env.find((variable) => variable.indexOf('=') <= 0)
  if (invalid !== undefined) throw new Error(`invalid environment variable ${JSON.stringify(invalid)}`)
}

function validateNode({ path, type, permissions }: DeviceNode): void {
  if (path === '') throw new Error('invalid (empty) device path')
  const name = `device ${JSON.stringify(path)}`
  if (!/^[bcup]?$/.test(type)) throw new Error(`${name}: invalid type ${JSON.stringify(type)}`)
  if (!/^(?:[rwm]*|none)$/.test(permissions))
    throw new Error(`${name}: invalid permissions ${JSON.stringify(permissions)}`)
}

function validateHook({ hookName, path, env }: CdiHook): void {
  const name = JSON.stringify(hookName)
  if (!hookNames.some((one) => one === hookName)) throw new Error(`invalid hook name ${name}`)
  if (path === '') throw new Error(`invalid hook ${name} with empty path`)
  validateVariables(env)
}
