/** Injects devices of spec files into the configuration of a container. */
import { messageOf } from '../../../lib/message-of.ts'
import type { OciSpec } from '../oci-spec.ts'
import { applyEdits } from './apply-edits.ts'
import { type DeviceEdits, findDevices } from './find-devices.ts'

export interface CdiOptions {
  /** Spec files of a later folder win. */
  readonly folders: readonly string[]
  readonly executor: { readonly name: string; readonly supportsHooks: boolean }
}

/** Throws an Error if a device cannot be resolved, or needs what the executor cannot do. */
export function injectDevices(spec: OciSpec, names: readonly string[], { folders, executor }: CdiOptions): OciSpec {
  try {
    const found = findDevices(folders, names)
    for (const one of found) checkSupport(one, executor)
    return found.reduce((edited, { edits }) => applyEdits(edited, edits), spec)
  } catch (error) {
    throw new Error(`CDI device injection failed: ${messageOf(error)}`, { cause: error })
  }
}

function checkSupport({ device, file, edits }: DeviceEdits, { name, supportsHooks }: CdiOptions['executor']): void {
  if (edits.hooks.length > 0 && !supportsHooks)
    throw new Error(`device ${device} has hooks, which the executor ${name} does not run: use crun or runc`)
  for (const field of ['intelRdt', 'netDevices'] as const)
    if (isSet(edits[field]))
      throw new Error(`device ${device} has ${field}, which this runtime does not support: remove it from ${file}`)
}

const isSet = (value: object | undefined): boolean =>
  value !== undefined && !(Array.isArray(value) && value.length === 0)
