/**
 * Structured authorization (KEP-3221): a file lists the authorizers in order, webhooks included. It is reloaded when it
 * changes. An invalid file is logged, and the old configuration remains.
 */
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { readKubeconfig } from '../../../kubeconfig/read-kubeconfig.ts'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { type ReloadMetrics, reloadMetrics } from '../../config-files/reload-metrics.ts'
import { type Authorizer, unionAuthorizer } from '../authorizer.ts'
import { systemMasters } from '../fixed-authorizers.ts'
import type { Authorization, AuthorizationMode, AuthorizationSources } from '../index.ts'
import { WebhookAuthorizer } from '../webhook/index.ts'
import { type WebhookMetrics, webhookMetrics } from '../webhook/metrics.ts'
import type { AuthorizationConfiguration, AuthorizerConfiguration, WebhookConfiguration } from './configuration-file.ts'
import { loadConfiguration } from './load-configuration.ts'
import { compileConditions } from './match-conditions.ts'

type LocalMode = Exclude<AuthorizationMode, 'Webhook'>

export interface ConfiguredOptions {
  readonly file: string
  /**
   * Creates a built-in authorizer, called once per type. `counted` counts the decisions of an authorizer under a name.
   */
  readonly local: (mode: LocalMode) => Authorization
  readonly counted: (type: string, name: string, authorizer: Authorizer) => Authorizer
  /** The polling interval of the file in ms. Default: 1,000. */
  readonly intervalMs?: number
}

export class ConfiguredAuthorization implements Authorization {
  readonly #options: ConfiguredOptions
  readonly #sources: AuthorizationSources
  readonly #metrics: WebhookMetrics
  readonly #reloads: ReloadMetrics
  readonly #local = new Map<string, Authorization>()
  #webhooks: readonly WebhookAuthorizer[] = []
  #current: Authorizer = systemMasters
  #text = ''
  #loaded = ''
  #checking: Promise<void> | undefined

  constructor(options: ConfiguredOptions, sources: AuthorizationSources) {
    this.#options = options
    this.#sources = sources
    this.#metrics = webhookMetrics(sources.metrics)
    this.#reloads = reloadMetrics(sources.metrics, 'authorization')
  }

  readonly authorizer: Authorizer = {
    name: 'AuthorizationConfiguration',
    authorize: (attributes) => this.#current.authorize(attributes),
    rulesFor: (user, namespace) => this.#current.rulesFor(user, namespace),
  }

  /** Rejects with an ExplainedError for an invalid file. */
  async start(): Promise<void> {
    const { file, local, intervalMs = 1000 } = this.#options
    try {
      this.#text = await readFile(file, 'utf8')
      const configuration = loadConfiguration(this.#text)
      for (const { type } of configuration.authorizers) if (isLocal(type)) this.#local.set(type, local(type))
      await this.#apply(configuration)
    } catch (error) {
      throw error instanceof ExplainedError
        ? error
        : new ExplainedError(`--authorization-config ${file}: ${reasonOf(error)}`, { cause: error })
    }
    await Promise.all([...this.#local.values()].map((authorization) => authorization.start()))
    this.#reloads.loaded(this.#text)
    watchFile(file, { interval: intervalMs, persistent: false }, this.#changed)
  }

  stop(): void {
    unwatchFile(this.#options.file, this.#changed)
    for (const authorization of this.#local.values()) authorization.stop()
    for (const webhook of this.#webhooks) webhook.stop()
  }

  readonly #changed = (): void => {
    const next = (this.#checking ?? Promise.resolve()).then(() => this.#reload())
    this.#checking = next
  }

  /** Never rejects. */
  async #reload(): Promise<void> {
    const { log } = this.#sources
    try {
      const text = await readFile(this.#options.file, 'utf8')
      if (text === this.#text) return
      this.#text = text
      const configuration = loadConfiguration(text, [...this.#local.keys()])
      if (JSON.stringify(configuration) === this.#loaded) return
      await this.#apply(configuration)
      this.#reloads.reloaded(text)
      log('reloaded authz config')
    } catch (error) {
      this.#reloads.failed()
      log(`reloading authorization config: ${reasonOf(error)}`)
    }
  }

  async #apply(configuration: AuthorizationConfiguration): Promise<void> {
    const webhooks: WebhookAuthorizer[] = []
    const authorizers: Authorizer[] = []
    for (const authorizer of configuration.authorizers) {
      const { type, name } = authorizer
      if (isLocal(type)) {
        authorizers.push(this.#options.counted(type, name, this.#localOf(type)))
      } else {
        const webhook = await this.#webhook(authorizer)
        webhooks.push(webhook)
        authorizers.push(this.#options.counted(type, name, webhook))
      }
    }
    const oldWebhooks = this.#webhooks
    this.#current = unionAuthorizer([systemMasters, ...authorizers])
    this.#webhooks = webhooks
    this.#loaded = JSON.stringify(configuration)
    for (const webhook of oldWebhooks) webhook.retire()
  }

  #localOf(type: string): Authorizer {
    const local = this.#local.get(type)
    if (!local)
      throw new Error(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`)
    return local.authorizer
  }

  async #webhook({ name, webhook }: AuthorizerConfiguration): Promise<WebhookAuthorizer> {
    const { places: sources, log } = this.#sources
    const { kubeConfigFile, cachesAuthorized, cachesUnauthorized, authorizedMs, unauthorizedMs, timeoutMs, ...rest } =
      webhook as WebhookConfiguration
    if (kubeConfigFile === undefined)
      throw new Error('webhook connectionInfo.type=InClusterConfig is not allowed for kube-apiserver')
    return new WebhookAuthorizer({
      name,
      connection: await readKubeconfig(kubeConfigFile),
      version: rest.subjectAccessReviewVersion === 'v1' ? 'v1' : 'v1beta1',
      authorizedMs: cachesAuthorized ? authorizedMs : 0,
      unauthorizedMs: cachesUnauthorized ? unauthorizedMs : 0,
      timeoutMs,
      failurePolicy: rest.failurePolicy === 'Deny' ? 'Deny' : 'NoOpinion',
      matches: compileConditions(rest.matchConditions, '').matcher,
      sources,
      metrics: this.#metrics,
      log,
    })
  }
}

const isLocal = (type: string): type is LocalMode => type !== 'Webhook'
