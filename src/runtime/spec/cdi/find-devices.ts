/** Finds devices in the folders of spec files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../lib/message-of.ts'
import type { CdiDevice, CdiSpec, ContainerEdits } from './files/cdi-spec.ts'
import { decodeSpec } from './files/decode-spec.ts'

/** The edits of a device, or those that all devices of its file share. */
export interface DeviceEdits {
  /** The qualified name of a device with them. */
  readonly device: string
  /** The path of the spec file. */
  readonly file: string
  readonly edits: ContainerEdits
}

interface FoundDevice {
  readonly folder: string
  readonly file: string
  readonly spec: CdiSpec
  readonly device: CdiDevice
}

interface FoundDevices {
  /** By qualified name. */
  readonly devices: ReadonlyMap<string, FoundDevice>
  /** Devices that have no meaning, since two files of a folder have them. */
  readonly conflicts: ReadonlyMap<string, string>
  /** Errors of files. */
  readonly faults: readonly string[]
}

/**
 * The edits of devices, in the order of their names. Files of a later folder win. Throws an Error if a device is in no
 * valid file, or in two files of a folder.
 */
export function findDevices(folders: readonly string[], names: readonly string[]): readonly DeviceEdits[] {
  const { devices, conflicts, faults } = readDevices(folders)
  const missing = names.filter((name) => conflicts.has(name) || !devices.has(name))
  if (missing.length > 0) {
    const reasons = [...missing.flatMap((name) => conflicts.get(name) ?? []), ...faults]
    const reason = reasons.length > 0 ? reasons.join('; ') : `no spec file in ${folders.join(' or ')} has them`
    throw new Error(`unresolvable CDI devices ${missing.join(', ')}: ${reason}`)
  }
  const files = new Set<string>()
  return names.flatMap((name) => {
    const { spec, file, device } = devices.get(name)!
    const own = { device: name, file, edits: device.containerEdits }
    if (files.has(file)) return [own]
    files.add(file)
    return [{ device: name, file, edits: spec.containerEdits }, own]
  })
}

function readDevices(folders: readonly string[]): FoundDevices {
  const devices = new Map<string, FoundDevice>()
  const conflicts = new Map<string, string>()
  const faults: string[] = []
  const read = (folder: string, file: string): void => {
    const spec = decodeSpec(readFileSync(file, 'utf8'))
    for (const device of spec.devices) {
      const name = `${spec.kind}=${device.name}`
      const other = devices.get(name)
      if (other?.folder === folder)
        conflicts.set(name, `conflicting device ${JSON.stringify(name)} (specs "${other.file}", "${file}")`)
      else devices.set(name, { folder, file, spec, device })
    }
  }
  for (const folder of folders)
    for (const file of attempt(faults, folder, () => filesIn(folder)) ?? [])
      attempt(faults, file, () => read(folder, file))
  return { devices, conflicts, faults }
}

/** Adds an error to `faults`, since one bad file must not take away the devices of others. */
function attempt<T>(faults: string[], path: string, action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    faults.push(`cannot read ${path}: ${messageOf(error)}`)
    return undefined
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && /\.(?:json|yaml)$/.test(entry.name))
      .map(({ name }) => join(folder, name))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
