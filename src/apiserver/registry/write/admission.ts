/**
 * Admission as the write path sees it: each write is mutated, then validated. The plugins and their order are defined
 * in `../../admission/`.
 */
import type { KubeObject } from '../../../machinery/object.ts'
import type { Request } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { DeleteOptions } from '../../request-options/delete-options.ts'
import type { WriteOptions } from '../../request-options/write-options.ts'
import type { ServedResource } from '../served-resource.ts'

/** Both steps return a promise only if they wait for something, and throw a StatusError to reject the write. */
export interface Admission {
  /** May change `attributes.object`. */
  mutate(attributes: AdmissionAttributes): void | Promise<void>
  validate(attributes: AdmissionAttributes): void | Promise<void>
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * The second round of a write's mutating plugins. It runs if a plugin changes the object after earlier plugins were
 * called. Plugins store their state for the second round in it.
 */
export interface Reinvocation {
  readonly round: 0 | 1
  /** True if the second round is needed. */
  shouldReinvoke: boolean
  /** By plug-in. */
  readonly states: Map<string, unknown>
}

/** The attributes of a write. `object` is absent for deletes, `old` for creates. */
export interface AdmissionAttributes {
  readonly operation: Operation
  readonly resource: ServedResource
  /** Empty, or `status`, `scale`, `binding`, …; then `object` may be of another kind (Scale, Binding, Eviction). */
  readonly subresource: string
  readonly namespace: string
  /** Empty if a name is still to be generated. */
  readonly name: string
  readonly user: UserInfo
  /** A validating plugin may replace it: later plugins see the replacement, the stored object stays the same. */
  object?: KubeObject
  readonly old?: KubeObject
  /** The kind of `object` and `old` if it is not the resource's own: Scale, Binding, Eviction, PodExecOptions. */
  readonly kind?: GroupVersionKind
  /** The options of a DELETE, as the client sent them. */
  readonly deletion?: DeleteOptions
  /** Created by the first plugin that needs it. */
  reinvocation?: Reinvocation
  readonly dryRun: boolean
  readonly options: WriteOptions
  /** The request, whose client may stop waiting for the response. The server's own writes have none. */
  readonly request?: Pick<Request, 'signal'> & Partial<Pick<Request, 'deadline'>>
  /** Adds a text to the Warning headers of the response. */
  readonly warn: (text: string) => void
  /**
   * Adds an annotation to the audit event of the request, such as `pod-security.kubernetes.io/enforce-policy`. With the
   * level `Request` it is recorded only in events that include the request body.
   */
  readonly annotate: (key: string, value: string, level?: 'Request') => void
}
