/**
 * Encryption at rest, configured by `--encryption-provider-config`: maps resources to transformers, and reloads the
 * file.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { ResourceDefinition } from '../../api/resource.ts'
import { type FileWatcher, watchFile } from '../../lib/files/watch-file.ts'
import { aggregated } from '../../lib/go/aggregate.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type ReloadMetrics, reloadMetrics } from '../config-files/reload-metrics.ts'
import type { HealthCheck } from '../health/health.ts'
import { type EncryptionConfiguration, groupResource, readEncryptionConfiguration } from './configuration.ts'
import { encryptionMetrics } from './metrics.ts'
import { type ProviderContext, type Providers, providersOf } from './providers/index.ts'
import { byPrefix, type ValueTransformer } from './value-transformer.ts'

export interface EncryptionOptions {
  readonly file: string
  /** The text of the file, read and validated at the start. */
  readonly text: string
  /** Reloads the file on changes (`--encryption-provider-config-automatic-reload`). */
  readonly reload?: boolean
}

interface Rule {
  /** Names as `resource.group`; `*` matches any. */
  readonly resources: ReadonlySet<string>
  readonly providers: Providers
}

const root = '/registry/'
const closeGraceMs = 10_000
/** The time in ms for the plug-ins of a changed file to become healthy, and the polling interval. */
const healthTimeoutMs = 10_000
const pollMs = 100
/** The delay in ms before a failed reload is retried; doubled each time. */
const firstRetryMs = 1000
const lastRetryMs = 60_000

export class EncryptionAtRest {
  readonly #options: EncryptionOptions
  readonly #context: ProviderContext
  readonly #reloads: ReloadMetrics
  readonly #stopping = new AbortController()
  /** The latest text of the file, and the text in use. They differ during a reload. */
  #latestText: string
  #appliedText: string
  #retry: NodeJS.Timeout | undefined
  /** `resource.group` by the path in keys: `secrets`, `services/specs`. */
  readonly #stored: ReadonlyMap<string, string>
  #rules: readonly Rule[] = []
  /** Transformers by the path in keys, created on first use. */
  #known = new Map<string, ValueTransformer | undefined>()
  #file: FileWatcher | undefined

  constructor(
    options: EncryptionOptions,
    definitions: readonly ResourceDefinition[],
    metrics: MetricsRegistry,
    log: (line: string) => void,
  ) {
    this.#options = options
    this.#latestText = this.#appliedText = options.text
    this.#context = { metrics: encryptionMetrics(metrics), log }
    this.#reloads = reloadMetrics(metrics, 'encryption')
    this.#stored = new Map([
      ...definitions.flatMap(({ storagePath, storedAs, plural, group }) =>
        storedAs ? [] : [[storagePath ?? plural, `${plural}.${group}`] as const],
      ),
      // The record of node ports is encrypted as Services are.
      ['ranges/servicenodeports', 'services.'] as const,
    ])
  }

  /** Resolves when values can be read and written, as far as plug-ins are healthy. */
  async start(): Promise<void> {
    const { file, text, reload } = this.#options
    this.#rules = await this.#rulesOf(readEncryptionConfiguration(text))
    this.#reloads.loaded(text)
    if (reload) this.#file = watchFile(file, text, (text) => this.#changed(text))
  }

  stop(): void {
    this.#stopping.abort()
    clearTimeout(this.#retry)
    this.#file?.stop()
    stopPlugins(this.#rules)
  }

  /** The transformer of a key; undefined if its resource is not configured. */
  readonly transformerOf = (key: string): ValueTransformer | undefined => {
    const path = pathOf(key, this.#stored)
    const known = this.#known
    if (!known.has(path)) known.set(path, this.#find(path))
    return known.get(path)
  }

  /** `/healthz/kms-providers`: one check for all plug-ins, which may change on a reload. */
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
      if (choices.length > 0) return byPrefix(choices, this.#context.metrics.transformed)
    }
    return undefined
  }

  async #rulesOf({ resources = [] }: EncryptionConfiguration): Promise<Rule[]> {
    return Promise.all(
      resources.map(async ({ resources: names = [], providers = [] }) => ({
        resources: new Set(names.map((name) => (name.includes('.') ? name : `${name}.`))),
        providers: await providersOf(providers, this.#context),
      })),
    )
  }

  /** An invalid file is ignored. If a plug-in is unhealthy, the reload is retried. */
  async #changed(text: string, retryMs = firstRetryMs): Promise<void> {
    const { file } = this.#options
    const { log } = this.#context
    clearTimeout(this.#retry)
    this.#latestText = text
    if (text === this.#appliedText) return
    try {
      if (!(await this.#apply(text))) return
      this.#reloads.reloaded(text)
      log(`reloaded ${file}: new values are encrypted by it`)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#reloads.failed()
      log(`cannot reload ${file}, the old configuration remains in use: ${messageOf(error)}`)
      if (error instanceof PluginUnhealthy && text === this.#latestText)
        this.#retry = setTimeout(() => void this.#changed(text, Math.min(2 * retryMs, lastRetryMs)), retryMs).unref()
    }
  }

  /** Applies a file once its plug-ins are healthy. Returns false if it has changed again meanwhile. */
  async #apply(text: string): Promise<boolean> {
    const rules = await this.#rulesOf(readEncryptionConfiguration(text))
    try {
      await this.#waitUntilHealthy(rules)
    } catch (error) {
      stopPlugins(rules)
      throw error
    }
    if (text !== this.#latestText) {
      stopPlugins(rules)
      return false
    }
    const before = this.#rules
    this.#rules = rules
    this.#appliedText = text
    this.#known = new Map()
    // Pending reads may still use the old plug-ins.
    setTimeout(stopPlugins, closeGraceMs, before).unref()
    return true
  }

  async #waitUntilHealthy(rules: readonly Rule[]): Promise<void> {
    const { signal } = this.#stopping
    const deadline = performance.now() + healthTimeoutMs
    for (let problem = await problemOf(rules); problem !== undefined; problem = await problemOf(rules)) {
      if (performance.now() > deadline)
        throw new PluginUnhealthy(
          `health check for new transformers failed, polling error context deadline exceeded: ${problem}`,
        )
      await delay(pollMs, undefined, { signal, ref: false })
    }
  }
}

/** A plug-in is unhealthy; a retry may succeed. */
class PluginUnhealthy extends Error {}

const pluginsOf = (rules: readonly Rule[]) => rules.flatMap(({ providers }) => providers.plugins)

/** Returns the problems of all plug-ins; undefined if all are healthy. */
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

/** The part of a key between the root and the namespace or name: one or two segments. */
function pathOf(key: string, stored: ReadonlyMap<string, string>): string {
  const first = key.indexOf('/', root.length)
  const word = key.slice(root.length, first < 0 ? undefined : first)
  if (first < 0 || stored.has(word)) return word
  const second = key.indexOf('/', first + 1)
  return key.slice(root.length, second < 0 ? undefined : second)
}

/** Custom resources are stored under `GROUP/PLURAL`. */
function customName(path: string): string | undefined {
  const [group = '', plural] = path.split('/')
  return plural && group.includes('.') ? `${plural}.${group}` : undefined
}
