/** Who decides: the authorizers that the modes name, in their order, behind system:masters. */

import { ExplainedError } from '../../lib/explained-error.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { abacAuthorizer, type Policy } from './abac/index.ts'
import { type Authorizer, inTurn } from './authorizer.ts'
import { decisionCounter } from './decision-metrics.ts'
import { alwaysAllow, alwaysDeny, authenticatedOnly, systemMasters } from './fixed-authorizers.ts'
import { nodeAuthorization } from './node/index.ts'
import { type RolePolicy, rbacAuthorizer } from './rbac/index.ts'
import type { WebhookModeOptions } from './webhook/webhook-mode.ts'

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC' | 'Node' | 'ABAC' | 'Webhook'

export interface AuthorizationOptions {
  /** As `--authorization-mode`; unless said, who is authenticated may do everything. */
  readonly modes?: readonly AuthorizationMode[]
  /** Of mode ABAC. */
  readonly policies?: readonly Policy[]
  /** Of mode Webhook. */
  readonly webhook?: WebhookModeOptions
  /** The file of `--authorization-config`, in place of modes. */
  readonly configurationFile?: string
}

/** What authorizers look at. */
export interface AuthorizationSources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  /** What mode RBAC decides by. */
  readonly roles: RolePolicy
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

/** An authorizer with a lifetime. */
export interface Authorization {
  readonly authorizer: Authorizer
  /** Resolves when it can decide. */
  start(): Promise<void>
  stop(): void
}

/** Makes the authorizer of a mode. It follows what it looks at from `start` to `stop`. */
export type AuthorizationFactory = (options: AuthorizationOptions, sources: AuthorizationSources) => Authorization

const fixed = (authorizer: Authorizer) => (): Authorization => ({ authorizer, start: async () => {}, stop: () => {} })

/** What few clusters have is loaded when it starts; until then nobody may do anything. */
function lazily(name: string, load: () => Promise<Authorization>): Authorization {
  let loaded: Authorization | undefined
  const current = (): Authorizer => loaded?.authorizer ?? alwaysDeny
  return {
    authorizer: {
      name,
      authorize: (attributes) => current().authorize(attributes),
      rulesFor: (user, namespace) => current().rulesFor(user, namespace),
    },
    async start() {
      loaded = await load()
      await loaded.start()
    },
    stop: () => loaded?.stop(),
  }
}

const factories: Readonly<Record<AuthorizationMode, AuthorizationFactory>> = {
  AlwaysAllow: fixed(alwaysAllow),
  AlwaysDeny: fixed(alwaysDeny),
  RBAC: (_options, { roles }) => ({
    authorizer: rbacAuthorizer(roles),
    start: () => roles.start(),
    stop: () => roles.stop(),
  }),
  Node: (_options, sources) => nodeAuthorization(sources),
  ABAC: ({ policies = [] }) => fixed(abacAuthorizer(policies))(),
  Webhook: ({ webhook }, sources) =>
    lazily('Webhook', async () => {
      if (!webhook) throw new Error('mode Webhook needs a webhook')
      return (await import('./webhook/webhook-mode.ts')).webhookMode(webhook, sources)
    }),
}

/** What a configuration file names, and flags have to give more about. */
function local(mode: AuthorizationMode, options: AuthorizationOptions, sources: AuthorizationSources): Authorization {
  if (mode === 'ABAC' && !options.policies)
    throw new ExplainedError("authorization-mode ABAC's authorization policy file not passed")
  return factories[mode](options, sources)
}

/** The authorizers that the options name. With a configuration file, that one says which. */
export function authorization(options: AuthorizationOptions, sources: AuthorizationSources): Authorization {
  const counted = decisionCounter(sources.metrics)
  const { configurationFile: file, modes } = options
  if (file) {
    return lazily('AuthorizationConfiguration', async () => {
      const { ConfiguredAuthorization } = await import('./configuration/index.ts')
      return new ConfiguredAuthorization({ file, counted, local: (mode) => local(mode, options, sources) }, sources)
    })
  }
  const chosen = modes?.map((mode) => factories[mode](options, sources)) ?? [fixed(authenticatedOnly)()]
  const names = modes?.map((mode) => (mode === 'Webhook' ? 'default' : mode.toLowerCase()))
  return {
    authorizer: inTurn([
      systemMasters,
      ...chosen.map(({ authorizer }, i) => (names ? counted(authorizer.name, names[i]!, authorizer) : authorizer)),
    ]),
    start: async () => {
      await Promise.all(chosen.map((each) => each.start()))
    },
    stop: () => {
      for (const each of chosen) each.stop()
    },
  }
}
