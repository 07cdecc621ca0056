/**
 * Admission as the write path sees it: each write is mutated, then validated. The plugins and their order are
 * admission's own (`../../admission/`).
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
 * That a write's mutating plug-ins are asked once more, because one that came late changed what others had seen.
 * Plug-ins that care keep here what they need to know in the second round.
 */
export interface Reinvocation {
  readonly round: 0 | 1
  /** Whether there is to be a second round. */
  wanted: boolean
  /** By plug-in. */
  readonly states: Map<string, unknown>
}

/** What a write is about. `object` is absent for deletes, `old` for creates. */
export interface AdmissionAttributes {
  readonly operation: Operation
  readonly resource: ServedResource
  /** Empty, or `status`, `scale`, `binding`, …; then `object` may be of another kind (Scale, Binding, Eviction). */
  readonly subresource: string
  readonly namespace: string
  /** Empty where a name is still to be generated. */
  readonly name: string
  readonly user: UserInfo
  /**
   * One that validates may put another in its place: those after it see that one, and what is stored stays as it is.
   */
  object?: KubeObject
  readonly old?: KubeObject
  /**
   * What `object` and `old` are where that is not the resource's own kind: Scale, Binding, Eviction, PodExecOptions.
   */
  readonly kind?: GroupVersionKind
  /** The options of a DELETE, as the client sent them. */
  readonly deletion?: DeleteOptions
  /** Made by the first plug-in that wants it. */
  reinvocation?: Reinvocation
  readonly dryRun: boolean
  readonly options: WriteOptions
  /** Whose answer may be waited for no more. The server's own writes have none. */
  readonly request?: Pick<Request, 'signal' | 'deadline' | 'waitedMs'>
  /** Adds a text to the Warning headers of the answer. */
  readonly warn: (text: string) => void
  /**
   * Adds an annotation to the audit event of the request: `pod-security.kubernetes.io/enforce-policy`. One of the level
   * `Request` shows what was sent.
   */
  readonly annotate: (key: string, value: string, level?: 'Request') => void
}
