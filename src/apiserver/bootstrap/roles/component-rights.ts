/** Rights of components that run in the same program as the server, and are users with certificates. */
import type { PolicyRule } from '../../authorization/rbac/index.ts'

/** A ClusterRole and its binding, which have the name of the user; with `own`, also a Role in a namespace. */
export interface ComponentRights {
  readonly user: string
  readonly rules: readonly PolicyRule[]
  readonly own?: { readonly namespace: string; readonly rules: readonly PolicyRule[] }
}
