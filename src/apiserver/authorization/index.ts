/** Combines the authorizers of the configured modes, in order, after system:masters. */

import { ExplainedError } from '../../lib/explained-error.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { ServiceSources } from '../outgoing/index.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { abacAuthorizer, type Policy } from './abac/index.ts'
import { type Authorizer, unionAuthorizer } from './authorizer.ts'
import { decisionCounter } from './decision-metrics.ts'
import { alwaysAllow, alwaysDeny, authenticatedOnly, systemMasters } from './fixed-authorizers.ts'
import { nodeAuthorization } from './node/index.ts'
import { type RolePolicy, rbacAuthorizer } from './rbac/index.ts'
import type { WebhookModeOptions } from './webhook/webhook-mode.ts'

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC' | 'Node' | 'ABAC' | 'Webhook'

export interface AuthorizationOptions {
  /** As `--authorization-mode`. Default: authenticated users may do everything. */
  readonly modes?: readonly AuthorizationMode[]
  /** Policies of the mode ABAC. */
  readonly policies?: readonly Policy[]
  /** Options of the mode Webhook. */
  readonly webhook?: WebhookModeOptions
  /** The file of `--authorization-config`, instead of modes. */
  readonly configurationFile?: string
}

/** The dependencies of authorizers. */
export interface AuthorizationSources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
  /** Roles and bindings, for the mode RBAC. */
  readonly roles: RolePolicy
  readonly places: ServiceSources
  readonly metrics: MetricsRegistry
  readonly log: (line: string) => void
}

/** An authorizer that can be started and stopped. */
export interface Authorization {
  readonly authorizer: Authorizer
  /** Resolves when it can decide. */
  start(): Promise<void>
  stop(): void
}

/** Creates the authorizer of a mode. It watches its data between `start` and `stop`. */
export type AuthorizationFactory = (options: AuthorizationOptions, sources: AuthorizationSources) => Authorization

const fixed = (authorizer: Authorizer) => (): Authorization => ({ authorizer, start: async () => {}, stop: () => {} })

/** Loads an optional authorizer on start. Until then it denies everything. */
function lazyAuthorization(name: string, load: () => Promise<Authorization>): Authorization {
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
    lazyAuthorization('Webhook', async () => {
      if (!webhook) throw new Error('mode Webhook needs a webhook')
      return (await import('./webhook/webhook-mode.ts')).webhookMode(webhook, sources)
    }),
}

/** Creates an authorizer of a configuration file that needs further flags. */
function local(mode: AuthorizationMode, options: AuthorizationOptions, sources: AuthorizationSources): Authorization {
  if (mode === 'ABAC' && !options.policies)
    throw new ExplainedError("authorization-mode ABAC's authorization policy file not passed")
  return factories[mode](options, sources)
}

/** Combines the authorizers of the options. A configuration file replaces the modes. */
export function authorization(options: AuthorizationOptions, sources: AuthorizationSources): Authorization {
  const counted = decisionCounter(sources.metrics)
  const { configurationFile: file, modes } = options
  if (file) {
    return lazyAuthorization('AuthorizationConfiguration', async () => {
      const { ConfiguredAuthorization } = await import('./configuration/index.ts')
      return new ConfiguredAuthorization({ file, counted, local: (mode) => local(mode, options, sources) }, sources)
    })
  }
  const chosen = modes?.map((mode) => factories[mode](options, sources)) ?? [fixed(authenticatedOnly)()]
  const names = modes?.map((mode) => (mode === 'Webhook' ? 'default' : mode.toLowerCase()))
  return {
    authorizer: unionAuthorizer([
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
