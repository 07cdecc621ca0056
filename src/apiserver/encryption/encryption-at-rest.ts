/** Encryption at rest as `--encryption-provider-config` says: which resources are held how, followed while the file changes. */
import type { ResourceDefinition } from '../../api/resource.ts'
import { type FollowedFile, followFile } from '../../lib/files/followed-file.ts'
import type { HealthCheck } from '../health/health.ts'
import { type EncryptionConfiguration, groupResource, readEncryptionConfiguration } from './configuration.ts'
import { type Providers, providersOf } from './providers/index.ts'
import type { ValueTransformer } from './value-transformer.ts'

export interface EncryptionOptions {
  readonly file: string
  /** What the file says, as it was read and checked at the start. */
  readonly text: string
  /** Whether the file is followed (`--encryption-provider-config-automatic-reload`). */
  readonly reload?: boolean
}

interface Rule {
  /** Of each `resource.group`; `*` stands for any. */
  readonly resources: ReadonlySet<string>
  readonly providers: Providers
}

const root = '/registry/'
const closeGraceMs = 10_000

export class EncryptionAtRest {
  readonly #options: EncryptionOptions
  readonly #log: (line: string) => void
  /** `resource.group` by what stands in keys: `secrets`, `services/specs`. */
  readonly #stored: ReadonlyMap<string, string>
  #rules: readonly Rule[] = []
  /** By what stands in keys; made as keys are asked for. */
  #known = new Map<string, ValueTransformer | undefined>()
  #file: FollowedFile | undefined

  constructor(options: EncryptionOptions, definitions: readonly ResourceDefinition[], log: (line: string) => void) {
    this.#options = options
    this.#log = log
    this.#stored = new Map(
      definitions.flatMap(({ storagePath, storedAs, plural, group }) => (storedAs ? [] : [[storagePath ?? plural, `${plural}.${group}`] as const])),
    )
  }

  /** Resolves when values can be read and written, as far as plug-ins are well. */
  async start(): Promise<void> {
    const { file, text, reload } = this.#options
    this.#rules = await this.#rulesOf(readEncryptionConfiguration(text))
    if (reload) this.#file = followFile(file, text, (text) => this.#changed(text))
  }

  stop(): void {
    this.#file?.stop()
    stopPlugins(this.#rules)
  }

  /** The transformer of a key; undefined where nothing is said of its resource. */
  readonly transformerOf = (key: string): ValueTransformer | undefined => {
    const path = pathOf(key, this.#stored)
    const known = this.#known
    if (!known.has(path)) known.set(path, this.#find(path))
    return known.get(path)
  }

  /** `/healthz/kms-provider-0`, …; one for all where the file is followed, because they come and go. */
  get healthChecks(): readonly HealthCheck[] {
    const { reload } = this.#options
    const plugins = pluginsOf(this.#rules)
    const problem = (): string | undefined => pluginsOf(this.#rules).find(({ problem }) => problem !== undefined)?.problem
    if (reload) return [{ name: 'kms-providers', check: problem }]
    return plugins.map((plugin, index) => ({ name: `kms-provider-${index}`, check: () => plugin.problem }))
  }

  #find(path: string): ValueTransformer | undefined {
    const name = this.#stored.get(path) ?? customName(path)
    if (!name) return undefined
    const { group } = groupResource(name)
    return this.#rules.find(({ resources }) => resources.has(name) || resources.has(`*.${group}`) || resources.has('*.*'))?.providers.transformer
  }

  async #rulesOf({ resources = [] }: EncryptionConfiguration): Promise<Rule[]> {
    return Promise.all(
      resources.map(async ({ resources: names = [], providers = [] }) => ({
        resources: new Set(names.map((name) => (name.includes('.') ? name : `${name}.`))),
        providers: await providersOf(providers, this.#log),
      })),
    )
  }

  /** A file that cannot be taken changes nothing. */
  async #changed(text: string): Promise<void> {
    const { file } = this.#options
    try {
      const rules = await this.#rulesOf(readEncryptionConfiguration(text))
      const ill = pluginsOf(rules).find(({ problem }) => problem !== undefined)
      if (ill) {
        stopPlugins(rules)
        throw new Error(`a KMS plug-in is not well: ${ill.problem}`)
      }
      const before = this.#rules
      this.#rules = rules
      this.#known = new Map()
      // Reads under way may still ask.
      setTimeout(stopPlugins, closeGraceMs, before).unref()
      this.#log(`${file} has changed: values are written as it says now`)
    } catch (error) {
      this.#log(`${file} has changed and cannot be used, what was there before goes on: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

const pluginsOf = (rules: readonly Rule[]) => rules.flatMap(({ providers }) => providers.plugins)

function stopPlugins(rules: readonly Rule[]): void {
  for (const plugin of pluginsOf(rules)) plugin.stop()
}

/** What stands between the root and the namespace or name: one word, or two. */
function pathOf(key: string, stored: ReadonlyMap<string, string>): string {
  const first = key.indexOf('/', root.length)
  const word = key.slice(root.length, first < 0 ? undefined : first)
  if (first < 0 || stored.has(word)) return word
  const second = key.indexOf('/', first + 1)
  return key.slice(root.length, second < 0 ? undefined : second)
}

/** Custom resources stand under `GROUP/PLURAL`. */
function customName(path: string): string | undefined {
  const [group = '', plural] = path.split('/')
  return plural && group.includes('.') ? `${plural}.${group}` : undefined
}
