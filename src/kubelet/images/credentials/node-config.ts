/** The node's own credentials: `config.json` or `.dockercfg` in the kubelet's and other folders. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DockerConfig, parseConfigJson, parseDockercfg } from '../../../node/images/docker-config.ts'

export interface NodeConfigOptions {
  /** Searched in this order; the first file that can be read counts. */
  readonly configFolders: readonly string[]
  readonly dockercfgFolders: readonly string[]
  readonly now: () => number
}

/** The folders that upstream searches, with the kubelet's folder first. */
export const nodeConfigFolders = (
  root: string,
  home: string,
  workingFolder: string,
): Pick<NodeConfigOptions, 'configFolders' | 'dockercfgFolders'> => ({
  configFolders: [root, workingFolder, join(home, '.docker'), '/.docker'],
  dockercfgFolders: [root, workingFolder, home, '/'],
})

/** The files are read again after this time, in ms. */
const freshMs = 300_000

export class NodeConfig {
  readonly #options: NodeConfigOptions
  #read: { readonly config: DockerConfig; readonly at: number } | undefined

  constructor(options: NodeConfigOptions) {
    this.#options = options
  }

  /** Empty if there is no file. */
  get(): DockerConfig {
    const now = this.#options.now()
    if (!this.#read || now - this.#read.at >= freshMs) this.#read = { config: this.#load(), at: now }
    return this.#read.config
  }

  #load(): DockerConfig {
    const { configFolders, dockercfgFolders } = this.#options
    return (
      firstOf(configFolders, 'config.json', parseConfigJson) ??
      firstOf(dockercfgFolders, '.dockercfg', parseDockercfg) ??
      new Map()
    )
  }
}

/** A file that is missing or not valid is skipped, as upstream: it may be of another program. */
function firstOf(
  folders: readonly string[],
  name: string,
  parse: (text: string) => DockerConfig,
): DockerConfig | undefined {
  for (const folder of folders)
    try {
      return parse(readFileSync(join(folder, name), 'utf8'))
    } catch {}
  return undefined
}
