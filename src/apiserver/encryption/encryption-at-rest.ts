/**
 * Encryption at rest as `--encryption-provider-config` says: which resources are held how, followed while the file
 * changes.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { ResourceDefinition } from '../../api/resource.ts'
import { type FollowedFile, followFile } from '../../lib/files/followed-file.ts'
import { aggregated } from '../../lib/go/aggregate.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type ReloadMetrics, reloadMetrics } from '../config-files/reload-metrics.ts'
import type { HealthCheck } from '../health/health.ts'
import { type EncryptionConfiguration, groupResource, readEncryptionConfiguration } from './configuration.ts'
import { encryptionMetrics } from './metrics.ts'
import { type Providers, providersOf, type Told } from './providers/index.ts'
import { byPrefix, type ValueTransformer } from './value-transformer.ts'

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
/** How long the plug-ins of a changed file have time to be well, and how often that is looked at. */
const patienceMs = 10_000
const lookMs = 100
/** How long until a file that could not be taken is tried again: twice as long each time. */
const firstRetryMs = 1000
const lastRetryMs = 60_000

export class EncryptionAtRest {
  readonly #options: EncryptionOptions
  readonly #told: Told
  readonly #reloads: ReloadMetrics
  readonly #stopping = new AbortController()
  /** What the file says, and what was made of it: they differ while it is tried. */
  #wanted: string
  #used: string
  #retry: NodeJS.Timeout | undefined
  /** `resource.group` by what stands in keys: `secrets`, `services/specs`. */
  readonly #stored: ReadonlyMap<string, string>
  #rules: readonly Rule[] = []
  /** By what stands in keys; made as keys are asked for. */
  #known = new Map<string, ValueTransformer | undefined>()
  #file: FollowedFile | undefined

  constructor(
    options: EncryptionOptions,
    definitions: readonly ResourceDefinition[],
    metrics: MetricsRegistry,
    log: (line: string) => void,
  ) {
    this.#options = options
    this.#wanted = this.#used = options.text
    this.#told = { metrics: encryptionMetrics(metrics), log }
    this.#reloads = reloadMetrics(metrics, 'encryption')
    this.#stored = new Map(
      definitions.flatMap(({ storagePath, storedAs, plural, group }) =>
        storedAs ? [] : [[storagePath ?? plural, `${plural}.${group}`] as const],
      ),
    )
  }

  /** Resolves when values can be read and written, as far as plug-ins are well. */
  async start(): Promise<void> {
    const { file, text, reload } = this.#options
    this.#rules = await this.#rulesOf(readEncryptionConfiguration(text))
    this.#reloads.loaded(text)
    if (reload) this.#file = followFile(file, text, (text) => this.#changed(text))
  }

  stop(): void {
    this.#stopping.abort()
    clearTimeout(this.#retry)
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

  /** `/healthz/kms-providers`: one for all plug-ins, which may come and go while the file is followed. */
  get healthChecks(): readonly HealthCheck[] {
    const { reload } = this.#options
    return reload || pluginsOf(this.#rules).length > 0
      ? [{ name: 'kms-providers', check: () => problemOf(this.#rules) }]
      : []
  }

  #find(path: string): ValueTransformer | undefined {
    const name = this.#stored.get(path) ?? customName(path)
    if (!name) return undefined
    const { group } = groupResource(name)
    for (const wanted of [name, `*.${group}`, '*.*']) {
      const choices = this.#rules.flatMap(({ resources, providers }) =>
        resources.has(wanted) ? providers.choices : [],
      )
      if (choices.length > 0) return byPrefix(choices, this.#told.metrics.transformed)
    }
    return undefined
  }

  async #rulesOf({ resources = [] }: EncryptionConfiguration): Promise<Rule[]> {
    return Promise.all(
      resources.map(async ({ resources: names = [], providers = [] }) => ({
        resources: new Set(names.map((name) => (name.includes('.') ? name : `${name}.`))),
        providers: await providersOf(providers, this.#told),
      })),
    )
  }

  /** A file that cannot be taken changes nothing; where a plug-in is why, it is tried again. */
  async #changed(text: string, retryMs = firstRetryMs): Promise<void> {
    const { file } = this.#options
    const { log } = this.#told
    clearTimeout(this.#retry)
    this.#wanted = text
    if (text === this.#used) return
    try {
      if (!(await this.#use(text))) return
      this.#reloads.reloaded(text)
      log(`${file} has changed: values are written as it says now`)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#reloads.failed()
      log(`${file} has changed and cannot be used, what was there before goes on: ${messageOf(error)}`)
      if (error instanceof PluginIll && text === this.#wanted)
        this.#retry = setTimeout(() => void this.#changed(text, Math.min(2 * retryMs, lastRetryMs)), retryMs).unref()
    }
  }

  /** Takes a file once its plug-ins are well; false if it has changed again meanwhile. */
  async #use(text: string): Promise<boolean> {
    const rules = await this.#rulesOf(readEncryptionConfiguration(text))
    try {
      await this.#well(rules)
    } catch (error) {
      stopPlugins(rules)
      throw error
    }
    if (text !== this.#wanted) {
      stopPlugins(rules)
      return false
    }
    const before = this.#rules
    this.#rules = rules
    this.#used = text
    this.#known = new Map()
    // Reads under way may still ask.
    setTimeout(stopPlugins, closeGraceMs, before).unref()
    return true
  }

  async #well(rules: readonly Rule[]): Promise<void> {
    const { signal } = this.#stopping
    const deadline = performance.now() + patienceMs
    for (let problem = await problemOf(rules); problem !== undefined; problem = await problemOf(rules)) {
      if (performance.now() > deadline)
        throw new PluginIll(
          `health check for new transformers failed, polling error context deadline exceeded: ${problem}`,
        )
      await delay(lookMs, undefined, { signal, ref: false })
    }
  }
}

/** A plug-in is not well; it may be later. */
class PluginIll extends Error {}

const pluginsOf = (rules: readonly Rule[]) => rules.flatMap(({ providers }) => providers.plugins)

/** Why values cannot be read and written, of all plug-ins. */
async function problemOf(rules: readonly Rule[]): Promise<string | undefined> {
  const problems = await Promise.all(pluginsOf(rules).map((plugin) => plugin.check()))
  const words = problems.flatMap((problem, index) =>
    problem === undefined ? [] : [`kms-provider-${index}: ${problem}`],
  )
  return words.length > 0 ? aggregated(words) : undefined
}

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
