/** The configuration of the pod network: the first file in `/etc/cni/net.d` (CNI 1.0). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PluginConfig {
  readonly type: string
  readonly capabilities?: Readonly<Record<string, boolean>>
}

export interface NetworkConfig {
  readonly name: string
  readonly cniVersion: string
  /** Called in this order to add a pod, and in the reverse order to delete it. */
  readonly plugins: readonly PluginConfig[]
}

const defaultVersion = '0.2.0'

/** Undefined if the folder has no configuration. Throws an Error for one that is not valid. */
export function readNetworkConfig(folder: string): NetworkConfig | undefined {
  const [file] = filesIn(folder)
  if (!file) return undefined
  const config = decode(file)
  const { name = '', cniVersion = defaultVersion } = config
  const plugins = file.endsWith('.conflist') ? (config.plugins ?? []) : [config as unknown as PluginConfig]
  if (plugins.length === 0) throw new Error(`${file} has no plugins`)
  if (plugins.some(({ type }) => !type)) throw new Error(`${file} has a plugin without a type`)
  return { name, cniVersion, plugins }
}

interface ConfigFile {
  readonly name?: string
  readonly cniVersion?: string
  readonly type?: string
  readonly plugins?: readonly PluginConfig[]
}

function decode(file: string): ConfigFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ConfigFile
  } catch (error) {
    throw new Error(`cannot read ${file}`, { cause: error })
  }
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.(conf|conflist|json)$/.test(name))
    return names.sort().map((name) => join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
