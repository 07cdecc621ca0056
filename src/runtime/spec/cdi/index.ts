/** Devices of the Container Device Interface: spec files of the host say how a container gets them. */
import type { ContainerConfig } from '#protobuf/cri-runtime_pb.js'
import type { OciSpec } from '../oci-spec.ts'
import type { CdiOptions } from './inject-devices.ts'
import { requestedDevices } from './requested-devices.ts'

/** Folders of spec files: those of the machine's administrator, then those that programs write. */
export const defaultCdiFolders: readonly string[] = ['/etc/cdi', '/var/run/cdi']

/**
 * The configuration of a container with the CDI devices that it requests. Reads spec files only if there are any.
 * Rejects if a device cannot be resolved, or needs what the executor cannot do.
 */
export async function withCdiDevices(spec: OciSpec, config: ContainerConfig, options: CdiOptions): Promise<OciSpec> {
  const names = requestedDevices(config)
  if (names.length === 0) return spec
  // Most runtimes never need it, nor its reader of YAML.
  const { injectDevices } = await import('./inject-devices.ts')
  return injectDevices(spec, names, options)
}
