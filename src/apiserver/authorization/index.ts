/** Who decides: the authorizers that the modes name, in their order, behind system:masters. */
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type Authorizer, inTurn } from './authorizer.ts'
import { alwaysAllow, alwaysDeny, authenticatedOnly, noOpinionOn, systemMasters } from './fixed-authorizers.ts'
import { nodeAuthorization } from './node/index.ts'

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'RBAC' | 'Node' | 'ABAC' | 'Webhook'

export interface AuthorizationOptions {
  /** As `--authorization-mode`; unless said, who is authenticated may do everything. */
  readonly modes?: readonly AuthorizationMode[]
}

/** What authorizers look at. */
export interface AuthorizationSources {
  readonly registry: Registry
  readonly find: (key: string) => ServedResource
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

const factories: Readonly<Record<AuthorizationMode, AuthorizationFactory>> = {
  AlwaysAllow: fixed(alwaysAllow),
  AlwaysDeny: fixed(alwaysDeny),
  RBAC: fixed(noOpinionOn('RBAC')),
  Node: (_options, sources) => nodeAuthorization(sources),
  ABAC: fixed(noOpinionOn('ABAC')),
  Webhook: fixed(noOpinionOn('Webhook')),
}

export function authorization(options: AuthorizationOptions, sources: AuthorizationSources): Authorization {
  const chosen = options.modes?.map((mode) => factories[mode](options, sources)) ?? [fixed(authenticatedOnly)()]
  return {
    authorizer: inTurn([systemMasters, ...chosen.map(({ authorizer }) => authorizer)]),
    start: async () => {
      await Promise.all(chosen.map((each) => each.start()))
    },
    stop: () => {
      for (const each of chosen) each.stop()
    },
  }
}
