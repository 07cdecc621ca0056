/**
 * The webhooks of all configurations of one kind, followed: compiled when a configuration changes, in the order in
 * which they are called.
 */
import type { Webhook } from '../../../api/admissionregistration/webhook-rules.ts'
import { admissionEnvironment } from '../../../cel/admission/environment.ts'
import { compileConditions, type MatchConditions } from '../../../cel/admission/match-conditions.ts'
import type { NamedUsers } from '../../../kubeconfig/named-users.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { WebhookClient, type WebhookConfig } from '../../outgoing/webhooks/index.ts'
import { FollowedObjects } from '../../registry/followed/followed-objects.ts'
import { type Entry, isExemptFromWebhooks, Match, Matcher, MatchIndex } from '../matching/matcher.ts'
import type { PluginSources } from '../plugin.ts'
import { credentialsFor, kubeConfigFileOf } from './webhook-users.ts'

/** A webhook, ready to be called. */
export interface ConfiguredWebhook {
  readonly configuration: string
  /** Tells webhooks of a configuration apart that have the same name. */
  readonly uid: string
  /** Its place among all of its kind. */
  readonly place: number
  readonly webhook: Webhook
  readonly ignoresFailures: boolean
  readonly conditions: MatchConditions | undefined
  readonly client: WebhookClient
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

/** Larger answers are not taken: they hold the patch of an object of 3 MB at most. Bytes. */
const mostBytes = 16 * 1024 * 1024
const usualTimeoutSeconds = 10

export class ConfiguredWebhooks {
  readonly matcher: Matcher
  readonly #sources: PluginSources
  readonly #followed: FollowedObjects<Configuration>
  /** By what they are made of: a webhook that stays as it is keeps its connections. */
  #clients = new Map<string, WebhookClient>()
  #index: MatchIndex<ConfiguredWebhook>
  #started = false
  #places = 0
  readonly #kubeConfigFile: string | undefined
  #users: NamedUsers | undefined
  #unsubscribe: (() => void) | undefined

  /**
   * `plural` names the kind of configurations. Throws an ExplainedError for a configuration of the plug-in that makes
   * no sense.
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
    this.#followed = new FollowedObjects<Configuration>({
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
    await this.#followed.start()
    this.#started = true
    this.#compile()
    // Other versions of a resource may be served now.
    this.#unsubscribe = this.#sources.apis.onChange(() => !this.#index.empty && this.#compile())
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#followed.stop()
    for (const client of this.#clients.values()) client.stop()
  }

  #compile(): void {
    const before = this.#clients
    this.#places = 0
    this.#clients = new Map()
    const configurations = [...this.#followed.all()].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
    const entries = configurations.flatMap((configuration) => this.#entriesOf(configuration, before))
    for (const [key, client] of before) if (!this.#clients.has(key)) client.retire()
    this.#index = new MatchIndex(this.matcher, entries, isExemptFromWebhooks)
  }

  #entriesOf(
    { metadata, webhooks = [] }: Configuration,
    before: ReadonlyMap<string, WebhookClient>,
  ): Entry<ConfiguredWebhook>[] {
    const times = new Map<string, number>()
    return webhooks.flatMap((webhook) => {
      const time = times.get(webhook.name) ?? 0
      times.set(webhook.name, time + 1)
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
          uid: `${metadata.name}/${webhook.name}/${time}`,
          place: this.#places++,
          webhook,
          ignoresFailures: failurePolicy === 'Ignore',
          conditions,
          client: this.#clientOf(webhook, before),
        }
        return [{ value, match }]
      } catch (error) {
        this.#sources.log(`webhook ${webhook.name} of ${metadata.name} is left out: ${error}`)
        return []
      }
    })
  }

  #clientOf(
    { clientConfig, timeoutSeconds = usualTimeoutSeconds }: Webhook,
    before: ReadonlyMap<string, WebhookClient>,
  ): WebhookClient {
    const key = JSON.stringify([clientConfig, timeoutSeconds])
    let client = this.#clients.get(key) ?? before.get(key)
    client ??= new WebhookClient(clientConfig as WebhookConfig, {
      sources: this.#sources.places,
      timeoutMs: timeoutSeconds * 1000,
      mostBytes,
      ...(this.#users && credentialsFor(this.#users, clientConfig as WebhookConfig)),
    })
    this.#clients.set(key, client)
    return client
  }
}
