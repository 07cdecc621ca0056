/** Applies edits of CDI to the configuration of a container. */
import { depthOf, normalPath } from '../mounts.ts'
import { hookNames, type OciHook, type OciMount, type OciSpec } from '../oci-spec.ts'
import { injectedNode } from './device-node.ts'
import type { CdiHook, CdiMount, ContainerEdits } from './files/cdi-spec.ts'

/** Throws an Error for a device node that the host must have and has not. */
export function applyEdits(spec: OciSpec, edits: ContainerEdits): OciSpec {
  const { process, linux } = spec
  const nodes = edits.deviceNodes.map((node) => injectedNode(node, process.user))
  const devices = new Map(linux.devices.map((device) => [device.path, device]))
  for (const { device } of nodes) devices.set(device.path, device)
  const rules = [...(linux.resources.devices ?? []), ...nodes.flatMap(({ rule }) => rule ?? [])]
  return {
    ...spec,
    process: {
      ...process,
      env: withVariables(process.env, edits.env),
      user: { ...process.user, additionalGids: withGroups(process.user.additionalGids, edits.additionalGids) },
    },
    mounts: withMounts(spec.mounts, edits.mounts),
    linux: { ...linux, devices: [...devices.values()], resources: { ...linux.resources, devices: rules } },
    ...(edits.hooks.length > 0 && { hooks: withHooks(spec.hooks ?? {}, edits.hooks) }),
  }
}

/** A variable replaces an earlier one of its name. */
function withVariables(env: readonly string[], added: readonly string[]): readonly string[] {
  const nameOf = (variable: string): string => variable.slice(0, variable.indexOf('='))
  return [...new Map([...env, ...added].map((variable) => [nameOf(variable), variable])).values()]
}

/** A device gives nobody the group of root. */
const withGroups = (groups: readonly number[], added: readonly number[]): readonly number[] => [
  ...new Set([...groups, ...added.filter((group) => group !== 0)]),
]

/** A mount replaces an earlier one at its path. A folder is mounted before the folders in it. */
function withMounts(mounts: readonly OciMount[], added: readonly CdiMount[]): readonly OciMount[] {
  if (added.length === 0) return mounts
  const all = new Map(mounts.map((mount) => [normalPath(mount.destination), mount]))
  for (const mount of added.map(ociMount)) {
    all.delete(mount.destination)
    all.set(mount.destination, mount)
  }
  return [...all.values()].sort((a, b) => depthOf(a.destination) - depthOf(b.destination))
}

/** Mounts without a type are bind mounts, for which executors want an option. */
function ociMount({ hostPath, containerPath, type, options }: CdiMount): OciMount {
  const isBind = options.includes('bind') || options.includes('rbind')
  const needsOption = !isBind && (type === '' || type === 'bind')
  return {
    destination: normalPath(containerPath),
    type: type || 'bind',
    source: hostPath,
    options: needsOption ? ['rbind', ...options] : options,
  }
}

type Hooks = NonNullable<OciSpec['hooks']>

const withHooks = (hooks: Hooks, added: readonly CdiHook[]): Hooks =>
  Object.fromEntries(
    hookNames.flatMap((name) => {
      const all = [...(hooks[name] ?? []), ...added.filter(({ hookName }) => hookName === name).map(ociHook)]
      return all.length > 0 ? [[name, all]] : []
    }),
  )

const ociHook = ({ path, args, env, timeout }: CdiHook): OciHook => ({
  path,
  ...(args.length > 0 && { args }),
  ...(env.length > 0 && { env }),
  ...(timeout !== undefined && { timeout }),
})
