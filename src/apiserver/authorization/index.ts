/** Who decides: the authorizers that the modes name, in their order, behind system:masters. */
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type Authorizer, inTurn } from './authorizer.ts'
import { alwaysAllow, alwaysDeny, authenticatedOnly, systemMasters } from './fixed-authorizers.ts'

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

export function authorization({ modes }: AuthorizationOptions, _sources: AuthorizationSources): Authorization {
  const chosen = modes ? modes.flatMap((mode) => (mode === 'AlwaysAllow' ? alwaysAllow : mode === 'AlwaysDeny' ? alwaysDeny : [])) : [authenticatedOnly]
  return { authorizer: inTurn([systemMasters, ...(chosen.length > 0 ? chosen : [authenticatedOnly])]), start: async () => {}, stop: () => {} }
}
