/**
 * Watches the webhooks of all configurations of one kind. Rebuilds the list on each change, in the order in which the
 * webhooks are called.
 */
import type { Webhook } from '../../../api/admissionregistration/webhook-rules.ts'
import { admissionEnvironment } from '../../../cel/admission/environment.ts'
import { compileConditions, type MatchConditions } from '../../../cel/admission/match-conditions.ts'
import type { NamedUsers } from '../../../kubeconfig/named-users.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { WebhookClient, type WebhookConfig } from '../../outgoing/webhooks/index.ts'
import { Informer } from '../../registry/informer.ts'
import { type Entry, isExemptFromWebhooks, Match, Matcher, MatchIndex } from '../matching/matcher.ts'
import type { PluginSources } from '../plugin.ts'
import { credentialsFor, kubeConfigFileOf } from './webhook-users.ts'

/** A webhook that is ready to be called. */
export interface ConfiguredWebhook {
  readonly configuration: string
  /** Unique even for webhooks of the same name in one configuration. */
  readonly uid: string
  /** The index among all webhooks of the kind. */
  readonly index: number
  readonly webhook: Webhook
  readonly ignoresFailures: boolean
  readonly conditions: MatchConditions | undefined
  readonly client: WebhookClient
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

/** The maximum size of an answer in bytes: enough for the patch of a 3 MB object. */
const maxBytes = 16 * 1024 * 1024
const defaultTimeoutSeconds = 10

export class ConfiguredWebhooks {
  readonly matcher: Matcher
  readonly #sources: PluginSources
  readonly #informer: Informer<Configuration>
  /** By client configuration: a webhook that does not change keeps its connections. */
  #clients = new Map<string, WebhookClient>()
  #index: MatchIndex<ConfiguredWebhook>
  #started = false
  #count = 0
  readonly #kubeConfigFile: string | undefined
  #users: NamedUsers | undefined
  #unsubscribe: (() => void) | undefined

  /**
   * `plural` names the kind of configurations. Throws an ExplainedError for an invalid configuration of the plug-in.
   */
  constructor(
    sources: PluginSources,
    plugin: string,
    plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  ) {
    const { registry, find, apis, configuration, log } = sources
    this.#sources = sources
    this.#kubeConfigFile = kubeConfigFileOf(plugin, configuration(plugin))
    this.matcher = new Matcher(registry, apis, find('v1/namespaces'))
    this.#index = new MatchIndex<ConfiguredWebhook>(this.matcher, [], isExemptFromWebhooks)
    this.#informer = new Informer<Configuration>({
      registry,
      resource: find(`admissionregistration.k8s.io/v1/${plural}`),
      log,
      changed: () => this.#started && this.#compile(),
    })
  }

  get index(): MatchIndex<ConfiguredWebhook> {
    return this.#index
  }

  async start(): Promise<void> {
    if (this.#kubeConfigFile)
      this.#users = await (await import('../../../kubeconfig/named-users.ts')).readNamedUsers(this.#kubeConfigFile)
    await this.#informer.start()
    this.#started = true
    this.#compile()
    // Other versions of a resource may have become available.
    this.#unsubscribe = this.#sources.apis.onChange(() => !this.#index.isEmpty && this.#compile())
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#informer.stop()
    for (const client of this.#clients.values()) client.stop()
  }

  #compile(): void {
    const oldClients = this.#clients
    this.#count = 0
    this.#clients = new Map()
    const configurations = [...this.#informer.all()].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
    const entries = configurations.flatMap((configuration) => this.#entriesOf(configuration, oldClients))
    for (const [key, client] of oldClients) if (!this.#clients.has(key)) client.retire()
    this.#index = new MatchIndex(this.matcher, entries, isExemptFromWebhooks)
  }

  #entriesOf(
    { metadata, webhooks = [] }: Configuration,
    oldClients: ReadonlyMap<string, WebhookClient>,
  ): Entry<ConfiguredWebhook>[] {
    const occurrences = new Map<string, number>()
    return webhooks.flatMap((webhook) => {
      const occurrence = occurrences.get(webhook.name) ?? 0
      occurrences.set(webhook.name, occurrence + 1)
      try {
        const {
          rules = [],
          matchPolicy,
          namespaceSelector,
          objectSelector,
          matchConditions,
          failurePolicy = 'Fail',
        } = webhook
        const match = new Match({ rules, matchPolicy, namespaceSelector, objectSelector })
        const conditions = matchConditions?.length
          ? {
              conditions: compileConditions(admissionEnvironment({ params: false, authorizer: true }), matchConditions),
              failurePolicy,
            }
          : undefined
        const value: ConfiguredWebhook = {
          configuration: metadata.name!,
          uid: `${metadata.name}/${webhook.name}/${occurrence}`,
          index: this.#count++,
          webhook,
          ignoresFailures: failurePolicy === 'Ignore',
          conditions,
          client: this.#clientOf(webhook, oldClients),
        }
        return [{ value, match }]
      } catch (error) {
        this.#sources.log(`ignoring invalid webhook ${webhook.name} of ${metadata.name}: ${error}`)
        return []
      }
    })
  }

  #clientOf(
    { clientConfig, timeoutSeconds = defaultTimeoutSeconds }: Webhook,
    oldClients: ReadonlyMap<string, WebhookClient>,
  ): WebhookClient {
    const key = JSON.stringify([clientConfig, timeoutSeconds])
    let client = this.#clients.get(key) ?? oldClients.get(key)
    client ??= new WebhookClient(clientConfig as WebhookConfig, {
      sources: this.#sources.places,
      timeoutMs: timeoutSeconds * 1000,
      maxBytes,
      ...(this.#users && credentialsFor(this.#users, clientConfig as WebhookConfig)),
    })
    this.#clients.set(key, client)
    return client
  }
}
